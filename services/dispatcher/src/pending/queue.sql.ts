import type { CommandBody } from '@slipway/contracts'
import {
  array,
  bool,
  float8,
  int4,
  int8,
  jsonb,
  LOCK_KEYS,
  LOCK_KEYS_BY_VALUE,
  nullable,
  pendingStatus,
  present,
  sourceKind,
  statement,
  targetConcurrency,
  text,
  uuid,
} from '@slipway/database'
import type { FreezeSubject, InstanceSelector } from '@slipway/domain'

interface NamedTarget {
  id: string
  name: string
}

// --- one request ---------------------------------------------------------------------------------------------------

/** Sends all commands as one jsonb value. With jsonb[], client and server escape and parse each command twice. */
export const addRequests = statement({
  name: 'dispatcher.pending_requests.add',
  parameters: {
    ...{ ids: array(uuid), priorities: array(int4), commands: jsonb<CommandBody<'deployment.start'>[]>() },
    ...{ tenant_ids: array(nullable(uuid)), tenant_names: array(nullable(text)) },
    ...{ environment_ids: array(nullable(uuid)), environment_names: array(nullable(text)) },
    ...{ source_types: array(sourceKind), source_ids: array(uuid), source_names: array(text) },
    ...{ source_versions: array(text), target_counts: array(int4), first_targets: array(jsonb<NamedTarget[]>()) },
    ...{ triggered_by: array(text), request_ids: array(nullable(text)), traceparents: array(nullable(text)) },
    queued_at: array(nullable(text)),
  },
  sql: `INSERT INTO pending_requests (id, priority, tenant_id, tenant_name, environment_id, environment_name, source_type,
                                  source_id, source_name, source_version, target_count, first_targets, triggered_by, command,
                                  request_id, traceparent, queued_at)
    SELECT id, priority, tenant_id, tenant_name, environment_id, environment_name, source_type,
           source_id, source_name, source_version, target_count, first_targets, triggered_by, :commands::jsonb -> (place::int - 1),
           request_id, traceparent, coalesce(queued_at::timestamptz, now())
      FROM unnest(:ids::uuid[], :priorities::int[], :tenant_ids::uuid[], :tenant_names::text[], :environment_ids::uuid[],
                  :environment_names::text[], :source_types::source_kind[], :source_ids::uuid[], :source_names::text[],
                  :source_versions::text[], :target_counts::int[], :first_targets::jsonb[], :triggered_by::text[],
                  :request_ids::text[], :traceparents::text[], :queued_at::text[])
           WITH ORDINALITY AS r (id, priority, tenant_id, tenant_name, environment_id, environment_name, source_type,
                                 source_id, source_name, source_version, target_count, first_targets, triggered_by,
                                 request_id, traceparent, queued_at, place)`,
})

export const lockRequest = statement({
  name: 'dispatcher.pending_requests.lock',
  parameters: { id: uuid },
  row: { tenant_id: nullable(uuid), status: pendingStatus, priority: int4 },
  sql: 'SELECT tenant_id, status, priority FROM pending_requests WHERE id = :id FOR UPDATE',
})

export const cancelRequest = statement({
  name: 'dispatcher.pending_requests.cancel',
  parameters: { id: uuid, from: array(pendingStatus) },
  sql: `UPDATE pending_requests SET status = 'cancelled' WHERE id = :id AND status = ANY(:from)`,
})

export const setPriority = statement({
  name: 'dispatcher.pending_requests.set-priority',
  parameters: { id: uuid, priority: int4 },
  sql: 'UPDATE pending_requests SET priority = :priority WHERE id = :id',
})

// --- order of the queue --------------------------------------------------------------------------------------------

/** Only one dispatcher at a time assigns slots to pending requests. */
export const tryLockQueue = statement({
  name: 'dispatcher.pending_requests.try-lock',
  row: { locked: bool },
  sql: `SELECT pg_try_advisory_xact_lock(${LOCK_KEYS.queueDispatch}) AS locked`,
})

/** SQL: the rank that a request of this priority would get now; null if no pending request has a lower or equal rank. */
export const rankBehind = (priority: string) =>
  `(SELECT now.rank FROM queue_rank(${priority}, now()) AS now (rank)
     WHERE EXISTS (SELECT FROM pending_requests p WHERE p.status = 'pending' AND p.rank <= now.rank))`

const selector = nullable(jsonb<InstanceSelector>())

/** SQL: whether any pending request requires labels of its instance. */
export const ANY_POOLED = `EXISTS (SELECT FROM pending_requests WHERE status = 'pending' AND pool_key IS NOT NULL)`

export const isAnyPooled = statement({
  name: 'dispatcher.pending_requests.any-pooled',
  row: { any: bool },
  sql: `SELECT ${ANY_POOLED} AS any`,
})

/** `findStartable` has the requests that need locks. */
const NEXT = {
  /** `size`: bytes of the command. */
  row: { id: uuid, rank: int8, tenant_id: nullable(uuid), selector, size: int4 },
  fields: 'p.id, p.rank, p.tenant_id, p.instance_selector AS selector, pg_column_size(p.command) AS size',
  condition: `p.status = 'pending' AND NOT p.wants_targets AND p.rank <= :max_rank
    AND (p.last_retry_at IS NULL OR p.last_retry_at < now() - make_interval(secs => p.retry_count))`,
}

export const findNext = statement({
  name: 'dispatcher.pending_requests.find-next',
  parameters: { max_rank: int8, limit: int8 },
  row: NEXT.row,
  sql: `SELECT ${NEXT.fields} FROM pending_requests p WHERE ${NEXT.condition} ORDER BY p.rank, p.id LIMIT :limit`,
})

/** For each freeze subject the first requests, up to its limit, ordered by rank across all subjects. */
export const findNextOfEach = statement({
  name: 'dispatcher.pending_requests.find-next-of-each',
  parameters: { max_rank: int8, keys: array(uuid), limits: array(int4) },
  row: NEXT.row,
  sql: `SELECT first.* FROM unnest(:keys::uuid[], :limits::int[]) AS wanted (key, most)
     CROSS JOIN LATERAL (
       SELECT ${NEXT.fields} FROM pending_requests p
        WHERE p.freeze_key = wanted.key AND ${NEXT.condition} ORDER BY p.rank, p.id LIMIT wanted.most
     ) first
     ORDER BY first.rank, first.id`,
})

const nextSubject = (bound: string) =>
  `(SELECT freeze_key, freeze_subject, instance_selector FROM pending_requests
     WHERE status = 'pending' ${bound} ORDER BY freeze_key LIMIT 1)`

/**
 * The distinct freeze subjects of pending requests. The key covers the selector, too. Reads one index entry per subject. If the
 * cost grew with the queue, `drain` would miss goal 5.
 */
export const findSubjects = statement({
  name: 'dispatcher.pending_requests.find-subjects',
  row: { key: present(uuid), subject: present(jsonb<FreezeSubject>()), selector },
  sql: `WITH RECURSIVE subjects (key, subject, selector) AS (
      ${nextSubject('')}
      UNION ALL
      SELECT next.* FROM subjects CROSS JOIN LATERAL ${nextSubject('AND freeze_key > subjects.key')} next
    )
    SELECT key, subject, selector FROM subjects`,
})

/** Recomputes the freeze subjects of requests whose targets have moved to another tenant or environment. */
export const renewSubjectsOf = statement({
  name: 'dispatcher.pending_requests.renew-subjects',
  parameters: { ids: array(uuid) },
  row: { id: uuid },
  sql: `UPDATE pending_requests p SET freeze_subject = now.subject
      FROM (SELECT id, freeze_subject_of(tenant_id, environment_id, command) AS subject
              FROM pending_requests WHERE id = ANY(:ids)) now
     WHERE p.id = now.id AND p.freeze_subject IS DISTINCT FROM now.subject
    RETURNING p.id`,
})

/** The limit of running deployments per tenant, and how many each tenant runs. Without a limit, tenants are not counted. */
export const countRunning = statement({
  name: 'dispatcher.pending_requests.count-running',
  row: { tenant_limit: nullable(int4), tenant_id: nullable(uuid), running: nullable(int8) },
  sql: `SELECT s.tenant_running_limit AS tenant_limit, r.tenant_id, r.running
      FROM queue_settings s
      LEFT JOIN LATERAL (SELECT tenant_id, count(*) AS running FROM deployments
                          WHERE completed_at IS NULL AND NOT is_check AND tenant_id IS NOT NULL AND s.tenant_running_limit IS NOT NULL
                          GROUP BY tenant_id) r ON true`,
})

export const lockTenantsRunning = statement({
  name: 'dispatcher.pending_requests.lock-tenants',
  parameters: { tenants: array(text) },
  sql: `SELECT FROM (SELECT tenant FROM unnest(:tenants::text[]) AS t (tenant) ORDER BY tenant COLLATE "C") ordered,
           LATERAL pg_advisory_xact_lock(${LOCK_KEYS_BY_VALUE.tenantRunning('tenant')})`,
})

// --- settings and metrics ------------------------------------------------------------------------------------------

const SETTINGS = {
  ageing_seconds: nullable(int4),
  tenant_running_limit: nullable(int4),
  analysis_enabled: bool,
  target_concurrency: targetConcurrency,
}

export const lockSettings = statement({
  name: 'dispatcher.queue_settings.lock',
  row: SETTINGS,
  sql: `SELECT ageing_seconds, tenant_running_limit, analysis_enabled, target_concurrency
      FROM queue_settings FOR UPDATE`,
})

export const saveSettings = statement({
  name: 'dispatcher.queue_settings.save',
  parameters: SETTINGS,
  sql: `UPDATE queue_settings SET ageing_seconds = :ageing_seconds, tenant_running_limit = :tenant_running_limit,
           analysis_enabled = :analysis_enabled, target_concurrency = :target_concurrency::target_concurrency`,
})

/** Run before `rankAll`: it takes longer than the statement timeout for a million requests, and blocks new requests meanwhile. */
export const BEFORE_RANKING = [
  statement({ name: 'dispatcher.queue_settings.no-timeout', sql: 'SET LOCAL statement_timeout = 0' }),
  statement({
    name: 'dispatcher.queue_settings.lock-queue',
    sql: 'LOCK TABLE pending_requests IN SHARE ROW EXCLUSIVE MODE',
  }),
]

/** A trigger computes the rank of every row that is updated. */
export const rankAll = statement({
  name: 'dispatcher.queue_settings.rank-all',
  sql: `UPDATE pending_requests SET priority = priority WHERE status = 'pending'`,
})

/** Each selector of pending requests, with how many have it and how many seconds the first one has waited. */
export const countPending = statement({
  name: 'dispatcher.pending_requests.count-pending',
  row: { selector, pending: int8, age: float8 },
  sql: `SELECT instance_selector AS selector, count(*) AS pending,
           extract(epoch FROM now() - min(queued_at))::float8 AS age
      FROM pending_requests WHERE status = 'pending' GROUP BY instance_selector ORDER BY 2 DESC`,
})
