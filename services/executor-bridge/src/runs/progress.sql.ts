import { RUN_FAILURE_REASONS, RUN_OUTCOMES } from '@slipway/contracts'
import {
  bool,
  deploymentState,
  int4,
  int8,
  nullable,
  oneOf,
  type RowOf,
  rowSet,
  STILL_HELD,
  statement,
  text,
  timestamptz,
  uuid,
} from '@slipway/database'
import { TAKES_LAST_OUTPUT } from '@slipway/database/read-models'
import { LOG_LIMITS } from '@slipway/domain'
import { TODAY } from '../log-volume/log-volume.sql.ts'

const outcome = oneOf('text', RUN_OUTCOMES)
const reason = oneOf('text', RUN_FAILURE_REASONS)
const dropping = nullable(oneOf('text', LOG_LIMITS))

const LEASE = {
  parameters: { deployment_id: uuid, epoch: int8, instance_id: uuid },
  row: {
    state: deploymentState,
    total_steps: int4,
    request_id: nullable(text),
    analysis_enabled: bool,
    traceparent: nullable(text),
    action_count: int4,
    acquired_at: timestamptz,
    tenant_id: nullable(uuid),
  },
  sql: `SELECT d.state, d.total_steps, d.request_id, d.analysis_enabled, d.traceparent, d.tenant_id, l.acquired_at,
           (SELECT max(action_index) + 1 FROM deployment_actions a WHERE a.deployment_id = d.id) AS action_count
      FROM deployments d, leases l
     WHERE d.id = :deployment_id AND l.deployment_id = d.id AND l.epoch = :epoch AND l.instance_id = :instance_id`,
}

// Locks the deployment first: each transaction that ends a lease changes the deployment before.

export const lockLiveLease = statement({
  name: 'executor-bridge.progress.lock-live-lease',
  parameters: LEASE.parameters,
  row: LEASE.row,
  sql: `${LEASE.sql} AND ${STILL_HELD} FOR SHARE OF d, l`,
})

export const findLiveLease = statement({
  name: 'executor-bridge.progress.find-live-lease',
  parameters: LEASE.parameters,
  row: LEASE.row,
  sql: `${LEASE.sql} AND ${STILL_HELD}`,
})

/** The lease of a run that was stopped, while the last output of its commands is accepted. */
export const lockStoppedLease = statement({
  name: 'executor-bridge.progress.lock-stopped-lease',
  parameters: LEASE.parameters,
  row: LEASE.row,
  sql: `${LEASE.sql} AND ${TAKES_LAST_OUTPUT} FOR SHARE OF d, l`,
})

const PROGRESS = {
  row: {
    next_event: int8,
    next_line: int8,
    finished: bool,
    rolling_back: bool,
    line_offset: int8,
    log_bytes: int8,
    dropping,
  },
  columns: 'next_event, next_line, finished_at IS NOT NULL AS finished, rolling_back, line_offset, log_bytes, dropping',
}

export const lockProgress = statement({
  name: 'executor-bridge.progress.lock',
  parameters: { deployment_id: uuid, epoch: int8 },
  row: PROGRESS.row,
  sql: `SELECT ${PROGRESS.columns} FROM run_progress
     WHERE deployment_id = :deployment_id AND epoch = :epoch FOR UPDATE`,
})

export type Progress = RowOf<typeof lockProgress>

/** Whether lines of the run are dropped. */
export const findDropping = statement({
  name: 'executor-bridge.progress.find-dropping',
  parameters: { deployment_id: uuid, epoch: int8 },
  row: { line_offset: int8, dropping },
  sql: 'SELECT line_offset, dropping FROM run_progress WHERE deployment_id = :deployment_id AND epoch = :epoch',
})

/**
 * Opens the progress of runs under new epochs: at event 0, with new counts of steps. The instance numbers its lines from the
 * stored ones on.
 */
export const openProgress = statement({
  name: 'executor-bridge.progress.open',
  parameters: { runs: rowSet({ deployment_id: uuid, epoch: int8 }) },
  row: { epoch: int8, ...PROGRESS.row },
  sql: `INSERT INTO run_progress AS p (deployment_id, epoch, tenant_id, ended_steps, completed_steps, failed_steps)
    SELECT run.*, (SELECT tenant_id FROM deployments d WHERE d.id = run.deployment_id), counted.*
      FROM :runs AS run
     CROSS JOIN LATERAL (
       SELECT count(*) FILTER (WHERE state NOT IN ('pending', 'running')),
              count(*) FILTER (WHERE state = 'completed'), count(*) FILTER (WHERE ever_failed)
         FROM steps WHERE steps.deployment_id = run.deployment_id) counted
    ON CONFLICT (deployment_id) DO UPDATE SET
      epoch = EXCLUDED.epoch, next_event = 0, finished_at = NULL, finished_outcome = NULL, finished_reason = NULL,
      finished_error = NULL, updated_at = now(), ended_steps = EXCLUDED.ended_steps,
      completed_steps = EXCLUDED.completed_steps, failed_steps = EXCLUDED.failed_steps, line_offset = 0
    WHERE p.epoch < EXCLUDED.epoch
    RETURNING epoch, ${PROGRESS.columns}`,
})

/** Adds `bytes` to the log of the run and of the day. The counts of steps change with the steps, in `writeSteps`. */
export const saveProgress = statement({
  name: 'executor-bridge.progress.save',
  parameters: {
    deployment_id: uuid,
    next_event: int8,
    next_line: int8,
    outcome: nullable(outcome),
    reason: nullable(reason),
    error_message: nullable(text),
    rolling_back: bool,
    line_offset: int8,
    bytes: int8,
    dropping,
  },
  row: { completed_steps: int4, ended_steps: int4 },
  sql: `UPDATE run_progress SET next_event = :next_event, next_line = :next_line,
           finished_at = CASE WHEN :outcome::text IS NOT NULL THEN now() END, finished_outcome = :outcome,
           finished_reason = :reason, finished_error = :error_message, rolling_back = rolling_back OR :rolling_back,
           line_offset = :line_offset, dropping = :dropping, log_bytes = log_bytes + :bytes,
           log_day_bytes = CASE WHEN log_day = ${TODAY} THEN log_day_bytes + :bytes WHEN :bytes = 0 THEN log_day_bytes ELSE :bytes END,
           log_day = CASE WHEN :bytes = 0 THEN log_day ELSE ${TODAY} END, updated_at = now()
     WHERE deployment_id = :deployment_id RETURNING completed_steps, ended_steps`,
})

export const failRun = statement({
  name: 'executor-bridge.progress.fail-run',
  parameters: { deployment_id: uuid, reason: nullable(reason), error_message: nullable(text) },
  sql: `UPDATE run_progress SET finished_at = now(), finished_outcome = 'failed', finished_reason = :reason,
           finished_error = :error_message, updated_at = now()
     WHERE deployment_id = :deployment_id`,
})
