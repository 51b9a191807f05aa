import type { FreezeSubject, InstanceSelector } from '@slipway/domain'
import type { RequestedTarget } from '@slipway/engine'
import { rowSet, statement } from '../sql/statement.ts'
import {
  array,
  bool,
  float8,
  int4,
  int8,
  json,
  jsonb,
  nullable,
  present,
  targetConcurrency,
  text,
  timestamptz,
  uuid,
} from '../sql/types.ts'
import { ANY_POLICY, holds, POLICY, rankOf, WITH_POLICY } from './fragments.ts'
import { PARKED, TERMS, TERMS_ROW } from './rules.sql.ts'

// --- new requests --------------------------------------------------------------------------------------------------

/**
 * What is known of new commands: whether an earlier copy started or is queued, whether the deadline is over, and the rank that each
 * would get. Scalar subqueries, not EXISTS: on a table without statistics, EXISTS reads every deployment (goal: create throughput).
 */
export const findStatus = statement({
  name: 'database.snapshot.find-status',
  parameters: {
    commands: rowSet({ id: uuid, deadline: nullable(timestamptz), priority: int4 }, 'place'),
    prepared: array(uuid),
  },
  row: { started: bool, queued: bool, late: bool, rank: int8 },
  sql: `SELECT (SELECT true FROM deployments d WHERE d.id = c.id AND d.id <> ALL (:prepared)) IS NOT NULL AS started,
           (SELECT true FROM pending_requests p WHERE p.id = c.id) IS NOT NULL AS queued,
           coalesce(clock_timestamp() > c.deadline, false) AS late,
           ${rankOf('c.priority', 'now()::timestamptz(3)')} AS rank
      FROM :commands AS c ORDER BY c.place`,
})

export const isAnyPolicy = statement({
  name: 'database.snapshot.any-policy',
  row: { any: bool },
  sql: `SELECT ${ANY_POLICY} AS any`,
})

/** For each list of targets, the tenants and environments of the targets now, in the order of the list. */
export const findPlaces = statement({
  name: 'database.snapshot.find-places',
  parameters: { targets: rowSet({ list: int4, target_id: uuid }, 'place') },
  row: { list: int4, tenant_id: nullable(uuid), environment_id: nullable(uuid), target_ids: array(text) },
  sql: `SELECT l.list, t.tenant_id, t.environment_id, array_agg(t.id::text ORDER BY l.place) AS target_ids
      FROM :targets AS l
      JOIN targets t ON t.id = l.target_id
     GROUP BY l.list, t.tenant_id, t.environment_id ORDER BY min(l.place)`,
})

interface AskedTargets {
  tenant_id: string | null
  source_id: string
  priority: number
  target_ids: readonly string[]
}

/** SQL: the targets of each list, by the number of the list from 1. */
const ASKED = `asked AS MATERIALIZED (
      SELECT l.list, l.tenant_id, l.source_id, l.priority, t.id AS target_id, t.name, ${POLICY} AS policy
        FROM ROWS FROM (jsonb_to_recordset(:lists::jsonb) AS (tenant_id uuid, source_id uuid, priority int, target_ids uuid[]))
             WITH ORDINALITY AS l (tenant_id, source_id, priority, target_ids, list)
       CROSS JOIN unnest(l.target_ids) AS requested (id) JOIN targets t ON t.id = requested.id ${WITH_POLICY}
       WHERE ${POLICY} <> 'allow')`

/** SQL: the pending requests that a new one replaces: of the same source and tenant, and each of their targets is one of its own. */
const OLDER = `older AS MATERIALIZED (
      SELECT a.list, p.id, p.environment_id, CASE WHEN p.parked_for IS NULL THEN p.queued_at END AS queued_at,
             CASE WHEN p.parked_for IS NULL THEN ${rankOf('a.priority', 'p.queued_at')} ELSE ${PARKED} END AS rank
        FROM asked a JOIN pending_targets n ON n.target_id = a.target_id JOIN pending_requests p ON p.id = n.request_id
       WHERE a.policy = 'supersede' AND p.status = 'pending' AND p.source_id = a.source_id
         AND (p.start_at IS NULL OR p.start_at <= now())
         AND p.tenant_id IS NOT DISTINCT FROM a.tenant_id
       GROUP BY a.list, a.priority, p.id HAVING count(*) = p.target_count)`

export const findOlder = statement({
  name: 'database.snapshot.find-older',
  parameters: { lists: jsonb<readonly AskedTargets[]>() },
  row: { list: int8, id: uuid, environment_id: nullable(uuid), queued_at: nullable(text), rank: int8 },
  sql: `WITH ${ASKED}, ${OLDER} SELECT list, id, environment_id, queued_at::text AS queued_at, rank FROM older ORDER BY list, id`,
})

/** SQL: whether the pending request `p` waits for targets or a slot alone. Others reserve nothing: they would block without limit. */
const RESERVES = `p.freeze_key = ANY (:open::uuid[])
  AND (p.last_retry_at IS NULL OR p.last_retry_at < now() - make_interval(secs => p.retry_count))`

/**
 * SQL: who keeps the target of this expression: the deployment that holds it, and the first pending request that wants it. LATERAL and
 * LIMIT: a join asks of every lock whether it holds, 50 ms for each create with 5,000 locks (goal: create with 1,000 locks).
 */
const keepersOf = (target: string, isReplaced = 'false') => `
      LEFT JOIN LATERAL (
        SELECT k.deployment_id, k.taken_at, (SELECT d.tenant_id FROM deployments d WHERE d.id = k.deployment_id) AS tenant_id
          FROM target_locks k WHERE k.target_id = ${target} AND ${holds('k')} LIMIT 1) k ON true
      LEFT JOIN LATERAL (
        SELECT n.request_id, n.rank FROM pending_targets n JOIN pending_requests p ON p.id = n.request_id
         WHERE n.target_id = ${target} AND ${RESERVES} AND NOT ${isReplaced}
         ORDER BY n.rank, n.request_id LIMIT 1) first ON first.rank < ${PARKED}`
const KEEPERS = `k.deployment_id AS holder_id, k.tenant_id AS holder_tenant_id, k.taken_at AS since,
           first.request_id AS first_id, first.rank AS first_rank`
const KEPT_ROW = {
  id: uuid,
  name: text,
  policy: targetConcurrency,
  holder_id: nullable(uuid),
  holder_tenant_id: nullable(uuid),
  since: nullable(timestamptz),
  first_id: nullable(uuid),
  first_rank: nullable(int8),
}

/**
 * The targets with a policy other than `allow` in each list, by the records as they are now, with the deployment that holds each, and
 * the first pending request that keeps it and is not replaced by the new one.
 */
export const findWanted = statement({
  name: 'database.snapshot.find-requested',
  parameters: { lists: jsonb<readonly AskedTargets[]>(), open: array(uuid) },
  row: { list: int8, ...KEPT_ROW },
  sql: `WITH ${ASKED}, ${OLDER}
    SELECT a.list, a.target_id AS id, a.name, a.policy, ${KEEPERS}
      FROM asked a ${keepersOf('a.target_id', 'EXISTS (SELECT FROM older o WHERE o.list = a.list AND o.id = n.request_id)')}`,
})

// --- pending requests ----------------------------------------------------------------------------------------------

/** `size`: bytes of the command. */
const FIELDS = `p.id, p.rank, p.freeze_key AS key, pg_column_size(p.command) AS size, p.step_count AS steps, ${TERMS}`
const ROW = { id: uuid, rank: int8, key: uuid, size: int4, steps: int4, ...TERMS_ROW }

/** The first requests of each group that need no lock, up to its limit. Together the first ones by rank. */
export const findFirsts = statement({
  name: 'database.snapshot.find-firsts',
  parameters: { groups: rowSet({ key: uuid, most: int4 }), limit: int8 },
  row: ROW,
  sql: `SELECT first.* FROM :groups AS requested
     CROSS JOIN LATERAL (
       SELECT ${FIELDS} FROM pending_requests p
        WHERE p.freeze_key = requested.key AND p.status = 'pending' AND p.rank < ${PARKED} AND NOT p.wants_targets
          AND (p.last_retry_at IS NULL OR p.last_retry_at < now() - make_interval(secs => p.retry_count))
        ORDER BY p.rank, p.id LIMIT requested.most
     ) first
     ORDER BY first.rank, first.id LIMIT :limit`,
})

/** SQL: each target once that a request waits for. Reads one index entry per target, however long the queue is. */
export const EACH_REQUESTED = `requested (target_id) AS (
    (SELECT target_id FROM pending_targets WHERE rank < ${PARKED} ORDER BY target_id LIMIT 1)
    UNION ALL
    SELECT next.target_id FROM requested CROSS JOIN LATERAL (
      SELECT n.target_id FROM pending_targets n
       WHERE n.target_id > requested.target_id AND n.rank < ${PARKED} ORDER BY n.target_id LIMIT 1) next)`

/**
 * The requests of the groups `keys` that come first for all their targets, of which nobody holds one. All other requests with locks
 * wait for a target. Requests of the groups `open` keep targets from each other.
 */
export const findHeads = statement({
  name: 'database.snapshot.find-heads',
  parameters: { open: array(uuid), keys: array(uuid), limit: int8 },
  row: { ...ROW, targets: json<RequestedTarget[]>() },
  sql: `WITH RECURSIVE ${EACH_REQUESTED}, heads AS (
      SELECT first.request_id, count(*) AS targets
        FROM requested CROSS JOIN LATERAL (
          SELECT n.request_id, n.rank FROM pending_targets n JOIN pending_requests p ON p.id = n.request_id
           WHERE n.target_id = requested.target_id AND ${RESERVES} ORDER BY n.rank, n.request_id LIMIT 1) first
       WHERE first.rank < ${PARKED} AND (SELECT true FROM target_locks k WHERE k.target_id = requested.target_id AND ${holds('k')} LIMIT 1) IS NULL
       GROUP BY first.request_id
    )
    SELECT ${FIELDS},
           (SELECT coalesce(json_agg(json_build_object('id', t.id, 'name', t.name, 'policy', ${POLICY})), '[]')
              FROM pending_targets n JOIN targets t ON t.id = n.target_id ${WITH_POLICY} WHERE n.request_id = p.id) AS targets
      FROM heads h JOIN pending_requests p ON p.id = h.request_id
     WHERE h.targets = (SELECT count(*) FROM pending_targets n WHERE n.request_id = p.id) AND p.status = 'pending'
       AND p.freeze_key = ANY (:keys::uuid[])
     ORDER BY p.rank, p.id LIMIT :limit`,
})

// --- requests that are shown ---------------------------------------------------------------------------------------

/** Pending requests by id, each with its place in the queue, also if it is parked. `retry_at`: when a failed dispatch is tried again; null: it may start now. */
export const findPending = statement({
  name: 'database.snapshot.find-pending',
  parameters: { ids: array(uuid) },
  row: {
    id: uuid,
    rank: int8,
    subject: jsonb<FreezeSubject>(),
    selector: nullable(jsonb<InstanceSelector>()),
    wants_targets: bool,
    retry_at: nullable(timestamptz),
    steps: int4,
    ...TERMS_ROW,
  },
  sql: `SELECT p.id, ${rankOf('p.priority', 'p.queued_at')} AS rank, p.step_count AS steps, ${TERMS}, p.freeze_subject AS subject, p.instance_selector AS selector, p.wants_targets,
           CASE WHEN p.last_retry_at >= now() - make_interval(secs => p.retry_count)
                THEN p.last_retry_at + make_interval(secs => p.retry_count) END AS retry_at
      FROM pending_requests p WHERE p.id = ANY (:ids) AND p.status = 'pending'`,
})

/** Each target that these requests wait for, once, with the requests. Thousands of requests often want the same few targets. */
export const findWaitedFor = statement({
  name: 'database.snapshot.find-waited-for',
  parameters: { ids: array(uuid), open: array(uuid) },
  row: { request_ids: array(uuid), ...KEPT_ROW },
  sql: `SELECT w.request_ids, t.id, t.name, ${POLICY} AS policy, ${KEEPERS}
      FROM (SELECT n.target_id, array_agg(n.request_id) AS request_ids FROM pending_targets n
             WHERE n.request_id = ANY (:ids) GROUP BY n.target_id) w
      JOIN targets t ON t.id = w.target_id ${WITH_POLICY} ${keepersOf('t.id')}
     ORDER BY t.name, t.id`,
})

/** How many requests of the queue each group has, and how many seconds the first one has waited. */
export const countGroups = statement({
  name: 'database.snapshot.count-groups',
  row: { key: uuid, pending: int8, age: float8 },
  sql: `SELECT freeze_key AS key, count(*) AS pending, extract(epoch FROM now() - min(queued_at))::float8 AS age
      FROM pending_requests WHERE status = 'pending' AND parked_for IS NULL GROUP BY 1`,
})

/** How many parked requests there are, by what they wait for first. */
export const countParked = statement({
  name: 'database.snapshot.count-parked',
  row: { parked_for: present(text), pending: int8 },
  sql: `SELECT parked_for, count(*) AS pending FROM pending_requests
     WHERE status = 'pending' AND parked_for IS NOT NULL GROUP BY 1`,
})
