import { MAX_SYNC_STARTS, STOP_REASONS, type StopReason, type SyncRequest, type SyncResponse } from '@slipway/contracts'
import { LOST_AFTER_SECONDS } from '@slipway/database'
import { Refusal } from '@slipway/http'
import { SLIPWAY_VERSION } from '@slipway/runtime'
import type { Bridge } from '../bridge.ts'
import { startsOf } from '../runs/start.ts'
import { dueProbes, noteProbes } from '../targets/probing.ts'
import { recordHeartbeat } from './heartbeat.ts'
import { endedLeases, findLiveLeases, keyOf, type LiveLease } from './leases.ts'
import { takeReports } from './reports.ts'

interface SyncCall {
  /** Called when the heartbeat is committed. */
  onHeartbeat(): void
  /** Aborted when the wait is over, the caller is gone, or the bridge stops. */
  over: AbortSignal
}

/**
 * Compares the runs of the instance with those that it should have, and returns the difference. Renews the instance's leases
 * first. Waits for a difference until it is over.
 *
 * If the instance has lost a run that it had, the progress of the run is unknown, and the run cannot start there again. Then no
 * lease is renewed: the instance kills its commands in time, and the dispatcher ends its leases as lost.
 * @throws Refusal 409 LEASES_LOST
 */
export async function sync(
  bridge: Bridge,
  instanceId: string,
  request: SyncRequest,
  { onHeartbeat, over }: SyncCall,
): Promise<SyncResponse> {
  let wakeUp = bridge.wakeUps.next(instanceId, over)
  let leases = await findLiveLeases.all(bridge.database, { instance_id: instanceId })
  refuseLost(bridge, instanceId, request, leases)
  await takeReports(bridge, instanceId, request)
  await noteProbes(bridge, instanceId, request.probes)
  await recordHeartbeat(bridge, instanceId, request)
  onHeartbeat()

  const probes = await dueProbes(bridge, instanceId, request.probe_slots)
  for (;;) {
    const start = await startsOf(bridge, instanceId, missingRuns(request, leases).slice(0, MAX_SYNC_STARTS))
    const stop = await stopsOf(bridge, instanceId, request, leases)
    const isDone = start.length + stop.length + probes.length > 0 || (await wakeUp) !== 'changed'
    if (isDone) return { version: SLIPWAY_VERSION, lost_after_seconds: LOST_AFTER_SECONDS, start, stop, probes }
    wakeUp = bridge.wakeUps.next(instanceId, over)
    leases = await findLiveLeases.all(bridge.database, { instance_id: instanceId })
  }
}

/** Unfinished leases whose run the instance does not report. */
const missing = (request: SyncRequest, leases: readonly LiveLease[]) => {
  const held = new Set(request.runs.map(keyOf))
  return leases.filter((lease) => !lease.finished && !held.has(keyOf(lease)))
}

/** Runs that the instance never received, or whose answer was lost. */
const missingRuns = (request: SyncRequest, leases: readonly LiveLease[]) =>
  missing(request, leases).filter(({ next_event, stale }) => next_event === 0 && !stale)

function refuseLost({ logger }: Bridge, instanceId: string, request: SyncRequest, leases: readonly LiveLease[]): void {
  const declined = new Set(request.declined.map(keyOf))
  const lost = new Set(leases.filter(({ stale, finished }) => stale && !finished))
  for (const lease of missing(request, leases)) {
    if (lease.next_event > 0 || (lease.overdue && !declined.has(keyOf(lease)))) lost.add(lease)
  }
  if (lost.size > 0) {
    const message = 'The instance no longer has runs that it was given: its leases end before it is given others'
    throw new Refusal(409, 'LEASES_LOST', message, { deployments: [...lost].map((lease) => lease.deployment_id) })
  }
  const known = new Map(leases.map((lease) => [keyOf(lease), lease.next_event]))
  for (const { next_event, ...run } of request.runs) {
    const expected = known.get(keyOf(run))
    if (expected === undefined || next_event === null || next_event <= expected) continue
    const fields = { ...run, instance_id: instanceId, acknowledged: next_event, expected }
    logger.error(
      'the database has fewer events of a run than were acknowledged; was it restored from a backup?',
      fields,
    )
  }
}

async function stopsOf(
  { database }: Bridge,
  instanceId: string,
  { runs }: SyncRequest,
  leases: readonly LiveLease[],
): Promise<SyncResponse['stop']> {
  const live = new Set(leases.map(keyOf))
  const unwanted = runs.filter((run) => !live.has(keyOf(run)))
  const ended = await endedLeases(
    database,
    instanceId,
    unwanted.map(({ epoch }) => epoch),
  )
  const reasons = new Map(ended.map((lease) => [keyOf(lease), lease.end_reason]))
  return unwanted.map(({ deployment_id, epoch }) => {
    return { deployment_id, epoch, reason: stopReason(reasons.get(keyOf({ deployment_id, epoch }))) }
  })
}

const stopReason = (text: string | undefined): StopReason => STOP_REASONS.find((reason) => reason === text) ?? 'unknown'
