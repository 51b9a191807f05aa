import type { RunFailureReason, RunOutcome, RunRef } from '@slipway/contracts'
import { enqueue, eventMessage, type Queryable, type RowOf } from '@slipway/database'
import { forRequest } from '@slipway/runtime'
import type { Bridge } from '../bridge.ts'
import type { Progress } from './progress.sql.ts'
import * as sql from './progress.sql.ts'

export type { Progress }

/** The end of a run, with the reason if it failed. */
export interface RunEnd {
  outcome: RunOutcome
  reason: RunFailureReason | null
  error_message: string | null
}

interface LeaseKey {
  deploymentId: string
  epoch: number
  instanceId: string
}

/** `state` changes by event messages of the run, so it may be behind. */
export type HeldRun = RowOf<typeof sql.lockLiveLease>

interface LockedRun {
  run: HeldRun
  progress: Progress
}

const keysOf = ({ deploymentId, epoch, instanceId }: LeaseKey) => ({
  deployment_id: deploymentId,
  epoch,
  instance_id: instanceId,
})

/**
 * Locks the live lease of this epoch and the progress of its run; null if the lease has ended. A new epoch starts at event 0
 * and counts the steps again.
 */
export async function lockRun(tx: Queryable, lease: LeaseKey): Promise<LockedRun | null> {
  const { instance_id, ...key } = keysOf(lease)
  const [run, found] = await Promise.all([
    sql.lockLiveLease.first(tx, { instance_id, ...key }),
    sql.lockProgress.first(tx, key),
  ])
  return run && { run, progress: found ?? (await openedProgress(tx, key)) }
}

/** Like `lockRun`, for a stopped run while output of its killed commands is accepted. Null if it is not. */
export async function lockStoppedRun(tx: Queryable, lease: LeaseKey): Promise<LockedRun | null> {
  const { instance_id, ...key } = keysOf(lease)
  const [run, progress] = await Promise.all([
    sql.lockStoppedLease.first(tx, { instance_id, ...key }),
    sql.lockProgress.first(tx, key),
  ])
  return run && progress ? { run, progress } : null
}

/** Opens the progress of runs with locked leases. Skips a run that another transaction has opened. */
export async function openProgress(tx: Queryable, runs: readonly RunRef[]): Promise<Map<number, Progress>> {
  if (runs.length === 0) return new Map()
  const rows = await sql.openProgress.all(tx, { runs })
  return new Map(rows.map((row) => [row.epoch, row]))
}

async function openedProgress(tx: Queryable, run: RunRef): Promise<Progress> {
  const opened = (await openProgress(tx, [run])).get(run.epoch) ?? (await sql.lockProgress.first(tx, run))
  if (!opened) throw new Error('the progress of a run was moved to a later epoch under a live lease')
  return opened
}

/** Ends a run that can never start, as failed. */
export const endUnstartedRun = (bridge: Bridge, lease: LeaseKey, problem: string): Promise<void> =>
  endFailed(bridge, lease, { reason: 'not_started', error_message: problem }, ({ next_event }) => next_event === 0)

/** Ends a run that has reported an impossible event, as failed. */
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
    await sql.failRun.run(tx, { deployment_id: deploymentId, ...failure })
    const body = { deployment_id: deploymentId, epoch, outcome: 'failed' as const, ...failure }
    await forRequest(run, () => enqueue(tx, [eventMessage('run.finished', body)]))
  })
  bridge.wakeRelay()
}
