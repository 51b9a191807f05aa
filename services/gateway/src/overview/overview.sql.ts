import { array, bool, int4, int8, json, nullable, statement, text, timestamptz, uuid } from '@slipway/database'
import { INSTANCE_STATUS, jsonObject, ownSql, SUMMARY, visibleSql, withProgress } from '@slipway/database/read-models'
import type { CommandFailureReason } from '@slipway/domain'

const viewer = { tenant_id: nullable(uuid) }

/** SQL: the deployments that run, and those that failed within a day. Users know no checks. */
const RUNNING = `d.completed_at IS NULL AND NOT d.is_check AND ${ownSql('d')}`
const FAILED = `d.state IN ('failed', 'rolled_back') AND NOT d.is_check
       AND d.completed_at > now() - interval '24 hours' AND ${ownSql('d')}`

const total = (where: string) => `(SELECT count(*) FROM deployments d WHERE ${where})`

/** Each count reads an index alone, as many entries as it counts. */
export const findCounts = statement({
  name: 'gateway.overview.find-counts',
  planEachCall: true,
  parameters: viewer,
  row: { at: timestamptz, running: int8, pending: int8, failed: int8 },
  sql: `SELECT now() AS at, ${total(RUNNING)} AS running, ${total(FAILED)} AS failed,
       (SELECT count(*) FROM pending_requests r WHERE r.status = 'pending' AND ${ownSql('r')}) AS pending`,
})

const summaries = (name: string, deployments: string, order: string) =>
  statement({
    name,
    planEachCall: true,
    parameters: { ...viewer, most: int8 },
    row: { item: json<{ id: string }>() },
    sql: `SELECT ${jsonObject(SUMMARY)} AS item FROM ${withProgress(`(${deployments})`)} ORDER BY ${order}`,
  })

/** A rollback is what needs eyes most. */
const RUNNING_ORDER = `d.state = 'rolling_back' DESC, d.created_at DESC, d.id DESC`
export const findRunning = summaries(
  'gateway.overview.find-running',
  `SELECT d.* FROM deployments d WHERE ${RUNNING} ORDER BY ${RUNNING_ORDER} LIMIT :most`,
  RUNNING_ORDER,
)

const ENDED_ORDER = 'd.completed_at DESC, d.id DESC'
export const findEnded = summaries(
  'gateway.overview.find-ended',
  `SELECT d.* FROM deployments d WHERE d.completed_at IS NOT NULL AND NOT d.is_check AND ${ownSql('d')}
     ORDER BY ${ENDED_ORDER} LIMIT :most`,
  ENDED_ORDER,
)

/** What a failed command left. The tails of its output are read only without a stored analysis. */
const CAUSE = jsonObject({
  action_name: 'a.action_name',
  error_message: 'f.error_message',
  failure_reason: 'f.failure_reason',
  exit_code: 'f.exit_code',
  completed_at: 'f.completed_at',
  fingerprint: `f.analysis ->> 'fingerprint'`,
  summary: `f.analysis ->> 'summary'`,
  stdout_tail: `CASE WHEN f.analysis IS NULL THEN right(f.stdout_tail, 2000) END`,
  stderr_tail: `CASE WHEN f.analysis IS NULL THEN right(f.stderr_tail, 2000) END`,
})

/** The first command that failed in a deployment. */
export interface Cause {
  action_name: string | null
  error_message: string | null
  failure_reason: CommandFailureReason | null
  exit_code: number | null
  completed_at: string
  /** Of the stored analysis; null without one. */
  fingerprint: string | null
  summary: string | null
  /** Only without a stored analysis. */
  stdout_tail: string | null
  stderr_tail: string | null
}

/** The newest failures of a day, by an index alone. */
export const findFailed = statement({
  name: 'gateway.overview.find-failed',
  planEachCall: true,
  parameters: { ...viewer, most: int8 },
  row: { id: uuid },
  sql: `SELECT d.id FROM deployments d WHERE ${FAILED} ORDER BY ${ENDED_ORDER} LIMIT :most`,
})

/**
 * Deployments, each with the first command that failed. Commands without a result, which were lost or killed, count
 * where no other failed. Of each deployment, an index finds the one result; steps are read only if there is none.
 */
export const findFailures = statement({
  name: 'gateway.overview.find-failures',
  parameters: { ids: array(uuid) },
  row: { id: uuid, analysis_enabled: bool, cause: nullable(json<Cause>()) },
  sql: `SELECT d.id, d.analysis_enabled, CASE WHEN f.action_index IS NOT NULL THEN ${CAUSE} END AS cause
      FROM deployments d
      LEFT JOIN run_progress p ON p.deployment_id = d.id
      LEFT JOIN LATERAL (
        (SELECT r.target_index, r.action_index, r.error_message, s.failure_reason, r.exit_code, r.completed_at, r.analysis,
                r.stdout_tail, r.stderr_tail
           FROM command_results r LEFT JOIN steps s USING (deployment_id, target_index, action_index)
          WHERE r.deployment_id = d.id AND r.status = 'failed'
          ORDER BY r.started_at, r.target_index, r.action_index LIMIT 1)
        UNION ALL
        (SELECT s.target_index, s.action_index, s.error_message, s.failure_reason, s.exit_code, s.completed_at, NULL, NULL, NULL
           FROM steps s
          WHERE p.failed_steps > 0 AND s.deployment_id = d.id AND s.ever_failed AND s.started_at IS NOT NULL AND s.completed_at IS NOT NULL
            AND (SELECT true FROM command_results r WHERE r.deployment_id = d.id AND r.status = 'failed' LIMIT 1) IS NULL
          ORDER BY s.started_at, s.target_index, s.action_index LIMIT 1)) f ON true
      LEFT JOIN deployment_actions a ON a.deployment_id = d.id AND a.action_index = f.action_index
     WHERE d.id = ANY (:ids)`,
})

/** An index counts the runs of each instance. */
export const findInstanceSlots = statement({
  name: 'gateway.overview.find-slots',
  parameters: { ...viewer, most: int8 },
  row: { id: uuid, name: text, status: text, capacity: int4, active: int8 },
  sql: `SELECT i.id, i.name, ${INSTANCE_STATUS} AS status, i.capacity,
       (SELECT count(*) FROM leases l WHERE l.instance_id = i.id AND l.ended_at IS NULL) AS active
      FROM instances i WHERE i.removed_at IS NULL AND ${visibleSql('i')}
     ORDER BY i.created_at DESC, i.id DESC LIMIT :most`,
})
