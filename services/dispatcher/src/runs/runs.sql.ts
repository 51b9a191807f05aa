import { RUN_FAILURE_REASONS, RUN_OUTCOMES } from '@slipway/contracts'
import {
  array,
  bool,
  deploymentState,
  int8,
  LOST_AFTER,
  nullable,
  ORPHANS,
  oneOf,
  present,
  STILL_HELD,
  statement,
  text,
  uuid,
} from '@slipway/database'

/** The most rows that one sweep reads. */
const BATCH = 100
/** The instance ends a deployment at its timeout and rolls it back. After this time the dispatcher ends it. */
const OVERDUE_AFTER = '60 seconds'
/** After this time without `run.finished` the message counts as lost. */
const MESSAGE_LOST_AFTER = '5 seconds'

// --- runs whose instance was lost ----------------------------------------------------------------------------------

export const lockOrphans = statement({
  name: 'dispatcher.runs.lock-orphans',
  parameters: { ids: array(uuid) },
  row: {
    id: uuid,
    tenant_id: nullable(uuid),
    state: deploymentState,
    request_id: nullable(text),
    traceparent: nullable(text),
    is_check: bool,
  },
  sql: `SELECT d.id, d.tenant_id, d.state, d.request_id, d.traceparent, d.is_check FROM ${ORPHANS} AND d.id = ANY(:ids)
     ORDER BY d.id FOR UPDATE OF d SKIP LOCKED`,
})

// --- runs that no instance will end ---------------------------------------------------------------------------------

/** Finds leases by a condition, and ends those of them that still meet it. */
const sweepOf = (reason: 'lost' | 'final', { from, where }: { from: string; where: string }) => ({
  reason,
  find: statement({
    name: `dispatcher.runs.find-${reason}-leases`,
    parameters: { except: array(int8) },
    row: { epoch: int8 },
    sql: `SELECT l.epoch FROM leases l ${from}
       WHERE l.ended_at IS NULL AND ${where} AND l.epoch <> ALL(:except)
       ORDER BY l.epoch LIMIT ${BATCH}`,
  }),
  end: statement({
    name: `dispatcher.runs.end-${reason}-leases`,
    parameters: { epochs: array(int8) },
    row: { deployment_id: uuid, epoch: int8, instance_id: uuid },
    sql: `WITH chosen AS (
        SELECT l.epoch FROM leases l ${from}
         WHERE l.epoch = ANY(:epochs) AND l.ended_at IS NULL AND ${where}
         ORDER BY l.epoch FOR UPDATE OF l SKIP LOCKED)
      UPDATE leases l SET ended_at = clock_timestamp(), end_reason = '${reason}'
        FROM chosen WHERE l.epoch = chosen.epoch AND ${STILL_HELD}
      RETURNING l.deployment_id, l.epoch, l.instance_id`,
  }),
})

/** Leases of instances without a heartbeat. */
export const LOST_LEASES = sweepOf('lost', {
  from: 'JOIN instances i ON i.id = l.instance_id',
  where: `coalesce(i.last_heartbeat_at, i.enrolled_at) < now() - interval '${LOST_AFTER}'`,
})

/** Leases of deployments that have ended. */
export const STALE_LEASES = sweepOf('final', {
  from: 'JOIN deployments d ON d.id = l.deployment_id',
  where: 'd.completed_at IS NOT NULL',
})

/** Runs whose end the bridge has stored, but whose `run.finished` was lost. */
export const findFinishedRuns = statement({
  name: 'dispatcher.runs.find-finished',
  parameters: { except: array(uuid) },
  row: {
    deployment_id: uuid,
    epoch: int8,
    error_message: nullable(text),
    outcome: present(oneOf('text', RUN_OUTCOMES)),
    reason: nullable(oneOf('text', RUN_FAILURE_REASONS)),
  },
  sql: `SELECT l.deployment_id, l.epoch, p.finished_outcome AS outcome, p.finished_reason AS reason,
           p.finished_error AS error_message
      FROM leases l JOIN run_progress p ON p.deployment_id = l.deployment_id AND p.epoch = l.epoch
     WHERE l.ended_at IS NULL AND p.finished_outcome IS NOT NULL
       AND p.finished_at < now() - interval '${MESSAGE_LOST_AFTER}'
       AND l.deployment_id <> ALL(:except)
     ORDER BY l.epoch LIMIT ${BATCH}`,
})

export const findOverdue = statement({
  name: 'dispatcher.runs.find-overdue',
  parameters: { except: array(uuid) },
  row: { id: uuid },
  sql: `SELECT id FROM deployments
     WHERE completed_at IS NULL AND state = 'running' AND deadline_at < now() - interval '${OVERDUE_AFTER}'
       AND id <> ALL(:except)
     ORDER BY deadline_at LIMIT ${BATCH}`,
})
