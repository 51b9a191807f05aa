import type { RunFailureReason, RunOutcome, RunRef } from '@slipway/contracts'
import { enqueue, eventMessage, type Queryable } from '@slipway/database'
import type { DeploymentState } from '@slipway/domain'
import { forRequest } from '@slipway/runtime'
import { STILL_HELD, TAKES_LAST_OUTPUT } from '@slipway/views'
import type { Bridge } from '../bridge.ts'

export interface Progress {
  next_event: number
  next_line: number
  finished: boolean
  /** The run has reported that it rolls back. */
  rolling_back: boolean
}

/** How a run ended, and why if it was no success. */
export interface RunEnd {
  outcome: RunOutcome
  reason: RunFailureReason | null
  error_message: string | null
}

export interface LeaseKey {
  deploymentId: string
  epoch: number
  instanceId: string
}

export interface HeldRun {
  /** It follows what the run reports by a message, so it may be behind. */
  state: DeploymentState
  total_steps: number
  action_count: number
  request_id: string | null
  traceparent: string | null
  analysis_enabled: boolean
}

/**
 * Locks the lease of this epoch against a change of its `condition`, so that what the transaction writes is written under
 * it; null when there is none. The deployment comes first: whoever ends a lease changes the deployment before.
 */
async function lockLease(tx: Queryable, lease: LeaseKey, condition: string): Promise<HeldRun | null> {
  const { rows } = await tx.query<HeldRun>(
    `SELECT d.state, d.total_steps, d.request_id, d.analysis_enabled, d.traceparent,
            (SELECT max(action_index) + 1 FROM deployment_actions a WHERE a.deployment_id = d.id) AS action_count
     FROM deployments d, leases l
     WHERE d.id = $1 AND l.deployment_id = d.id AND l.epoch = $2 AND l.instance_id = $3 AND ${condition}
     FOR SHARE OF d, l`,
    [lease.deploymentId, lease.epoch, lease.instanceId],
  )
  return rows[0] ?? null
}

/**
 * Locks the live lease of this epoch and how far its run has come; null when the lease has ended. A new epoch starts at
 * event 0 and counts the steps afresh.
 */
export async function lockRun(tx: Queryable, lease: LeaseKey): Promise<{ run: HeldRun; progress: Progress } | null> {
  const { deploymentId, epoch } = lease
  const [run, found] = await Promise.all([lockLease(tx, lease, STILL_HELD), selectProgress(tx, deploymentId, epoch)])
  return run && { run, progress: found ?? (await progressOf(tx, deploymentId, epoch)) }
}

/** The same for a run that was stopped, while output of its killed commands is taken; null when it is not. */
export async function lockStoppedRun(
  tx: Queryable,
  lease: LeaseKey,
): Promise<{ run: HeldRun; progress: Progress } | null> {
  const { deploymentId, epoch } = lease
  const [run, progress] = await Promise.all([
    lockLease(tx, lease, TAKES_LAST_OUTPUT),
    selectProgress(tx, deploymentId, epoch),
  ])
  return run && progress ? { run, progress } : null
}

/** Opens the progress of runs whose leases are locked; of one that somebody else opened meanwhile it says nothing. */
export async function openProgress(tx: Queryable, runs: readonly RunRef[]): Promise<Map<number, Progress>> {
  if (runs.length === 0) return new Map()
  const { rows } = await tx.query<Progress & { epoch: number }>(
    `INSERT INTO run_progress AS p (deployment_id, epoch, ended_steps, completed_steps, failed_steps)
     SELECT run.*, counted.*
     FROM unnest($1::uuid[], $2::bigint[]) AS run (deployment_id, epoch)
     CROSS JOIN LATERAL (
       SELECT count(*) FILTER (WHERE state NOT IN ('pending', 'running')),
              count(*) FILTER (WHERE state = 'completed'), count(*) FILTER (WHERE ever_failed)
       FROM steps WHERE steps.deployment_id = run.deployment_id) counted
     ON CONFLICT (deployment_id) DO UPDATE SET
       epoch = EXCLUDED.epoch, next_event = 0, finished_at = NULL, finished_outcome = NULL, finished_reason = NULL,
       finished_error = NULL, updated_at = now(), ended_steps = EXCLUDED.ended_steps,
       completed_steps = EXCLUDED.completed_steps, failed_steps = EXCLUDED.failed_steps
     WHERE p.epoch < EXCLUDED.epoch
     RETURNING epoch, next_event, next_line, finished_at IS NOT NULL AS finished, rolling_back`,
    [runs.map(({ deployment_id }) => deployment_id), runs.map(({ epoch }) => epoch)],
  )
  return new Map(rows.map((row) => [row.epoch, row]))
}

async function progressOf(tx: Queryable, deploymentId: string, epoch: number): Promise<Progress> {
  const own = await openProgress(tx, [{ deployment_id: deploymentId, epoch }])
  const opened = own.get(epoch) ?? (await selectProgress(tx, deploymentId, epoch))
  if (!opened) throw new Error('the progress of a run was moved to a later epoch under a live lease')
  return opened
}

async function selectProgress(tx: Queryable, deploymentId: string, epoch: number): Promise<Progress | undefined> {
  const { rows } = await tx.query<Progress>(
    `SELECT next_event, next_line, finished_at IS NOT NULL AS finished, rolling_back
     FROM run_progress WHERE deployment_id = $1 AND epoch = $2 FOR UPDATE`,
    [deploymentId, epoch],
  )
  return rows[0]
}

/** Ends a run that can never start, as failed. */
export const endUnstartedRun = (bridge: Bridge, lease: LeaseKey, problem: string): Promise<void> =>
  endFailed(bridge, lease, { reason: 'not_started', error_message: problem }, ({ next_event }) => next_event === 0)

/** Ends a run that has reported what no run can do, as failed. */
export const endIllegalRun = (bridge: Bridge, lease: LeaseKey, problem: string): Promise<void> => {
  const error_message = `The deployment ended because its instance reported an illegal event. ${problem}`
  return endFailed(bridge, lease, { reason: 'illegal_event', error_message }, () => true)
}

async function endFailed(
  bridge: Bridge,
  lease: LeaseKey,
  failure: Omit<RunEnd, 'outcome'>,
  mayEnd: (progress: Progress) => boolean,
): Promise<void> {
  const { deploymentId, epoch } = lease
  await bridge.database.transaction(async (tx) => {
    const held = await lockRun(tx, lease)
    if (!held) return
    const { run, progress } = held
    if (progress.finished || !mayEnd(progress)) return
    await tx.query(
      `UPDATE run_progress SET finished_at = now(), finished_outcome = 'failed', finished_reason = $2, finished_error = $3,
              updated_at = now()
        WHERE deployment_id = $1`,
      [deploymentId, failure.reason, failure.error_message],
    )
    const body = { deployment_id: deploymentId, epoch, outcome: 'failed' as const, ...failure }
    await forRequest(run, () => enqueue(tx, [eventMessage('run.finished', body)]))
  })
  bridge.wakeRelay()
}
