import type { CommandBody } from '@slipway/contracts'
import {
  array,
  bool,
  columnNames,
  groupKey,
  int4,
  jsonb,
  nullable,
  pendingStatus,
  placesOf,
  rankOf,
  rowSet,
  sourceKind,
  statement,
  targetConcurrency,
  text,
  timestamptz,
  uuid,
} from '@slipway/database'

interface NamedTarget {
  id: string
  name: string
}

// --- one request ---------------------------------------------------------------------------------------------------

/** Written as they are given. */
const REQUEST = {
  id: uuid,
  priority: int4,
  tenant_id: nullable(uuid),
  tenant_name: nullable(text),
  environment_id: nullable(uuid),
  environment_name: nullable(text),
  source_type: sourceKind,
  source_id: uuid,
  source_name: text,
  source_version: text,
  target_count: int4,
  step_count: int4,
  first_targets: jsonb<NamedTarget[]>(),
  triggered_by: text,
  request_id: nullable(text),
  traceparent: nullable(text),
  start_at: nullable(timestamptz),
  expires_at: nullable(timestamptz),
  overrides_rules: bool,
  author_id: uuid,
  author_key_id: nullable(uuid),
  variant: nullable(text),
  plan_hash: text,
}

/** Sends all commands as one jsonb value. With jsonb[], client and server escape and parse each command twice. */
export const addRequests = statement({
  name: 'dispatcher.pending-requests.add',
  parameters: {
    requests: rowSet({ ...REQUEST, queued_at: nullable(text) }, 'place'),
    commands: jsonb<CommandBody<'deployment.start'>[]>(),
    /** What freezes match, but for the places of the targets. */
    subjects: jsonb<readonly object[]>(),
  },
  sql: `INSERT INTO pending_requests (${columnNames(REQUEST)},
      rank, command, queued_at, freeze_subject, freeze_key, instance_selector, pool_key)
    SELECT ${columnNames(REQUEST)},
           ${rankOf('priority', 'since')}, command, since, subject, ${groupKey('subject', 'selector')}, selector, md5(selector::text)::uuid
      FROM :requests AS r,
           LATERAL (SELECT :commands::jsonb -> (place::int - 1) AS command, coalesce(queued_at::timestamptz, now())::timestamptz(3) AS since) c,
           LATERAL (SELECT (:subjects::jsonb -> (place::int - 1)) || jsonb_build_object('targets', ${placesOf('command')}) AS subject,
                           command #> '{plan,instance_selector}' AS selector) f`,
})

export const lockRequest = statement({
  name: 'dispatcher.pending-requests.lock',
  parameters: { id: uuid },
  row: { tenant_id: nullable(uuid), status: pendingStatus, priority: int4 },
  sql: 'SELECT tenant_id, status, priority FROM pending_requests WHERE id = :id FOR UPDATE',
})

/** The age of the request stays, so that its rank moves by its priority alone. */
export const setPriority = statement({
  name: 'dispatcher.pending-requests.set-priority',
  parameters: { id: uuid, priority: int4 },
  sql: `WITH moved AS (
      UPDATE pending_requests SET priority = :priority, rank = CASE WHEN parked_for IS NULL THEN ${rankOf(':priority::int', 'queued_at')} ELSE rank END WHERE id = :id
      RETURNING id, rank, wants_targets)
    UPDATE pending_targets n SET rank = moved.rank FROM moved WHERE moved.wants_targets AND n.request_id = moved.id`,
})

/**
 * Recomputes what freezes match of requests whose targets have moved to another tenant or environment. Returns these: they must be
 * decided again.
 */
export const renewSubjects = statement({
  name: 'dispatcher.pending-requests.renew-subjects',
  parameters: { ids: array(uuid) },
  row: { id: uuid },
  sql: `UPDATE pending_requests p
       SET freeze_subject = now.subject, freeze_key = ${groupKey('now.subject', 'p.instance_selector')}
      FROM (SELECT id, freeze_subject || jsonb_build_object('targets', ${placesOf('command')}) AS subject
              FROM pending_requests WHERE id = ANY(:ids)) now
     WHERE p.id = now.id AND p.freeze_subject IS DISTINCT FROM now.subject
    RETURNING p.id`,
})

// --- settings and metrics ------------------------------------------------------------------------------------------

/** A dispatcher that starts with the stored settings writes nothing. */
export const saveSettings = statement({
  name: 'dispatcher.queue-settings.save',
  parameters: { tenant_running_limit: nullable(int4), analysis_enabled: bool, target_concurrency: targetConcurrency },
  sql: `UPDATE queue_settings s
       SET tenant_running_limit = :tenant_running_limit, analysis_enabled = :analysis_enabled,
           target_concurrency = :target_concurrency::target_concurrency
     WHERE (s.tenant_running_limit, s.analysis_enabled, s.target_concurrency)
           IS DISTINCT FROM (:tenant_running_limit::int, :analysis_enabled::boolean, :target_concurrency::target_concurrency)`,
})
