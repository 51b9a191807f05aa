import type { HeartbeatRequest, HeartbeatResponse, RunRef } from '@slipway/contracts'
import { enqueue, eventMessage, LOST_AFTER } from '@slipway/database'
import type { Bridge } from '../bridge.ts'
import { Refusal } from '../http/refusal.ts'

/** A lease younger than this may still be on its way to the instance. */
const HANDOVER_SECONDS = 3

interface LiveLease {
  deployment_id: string
  epoch: number
  /** Events of this epoch have come, so the instance had the run. */
  started: boolean
  finished: boolean
  /** Taken before the instance began anew, without its journal. */
  stale: boolean
  settled: boolean
  overdue: boolean
}

/**
 * Renews the instance's leases, after comparing what it runs with what it should run. `stop` in the answer: runs without a live
 * lease. `resend`: runs that never reached it. A run that it had and no longer has cannot be handed over again, since what it
 * did of it is unknown. Then nothing is renewed and it is told so: it kills its commands in time, and the dispatcher ends
 * its leases as lost. Throws 409 LEASES_LOST.
 */
export async function heartbeat(
  bridge: Bridge,
  instanceId: string,
  request: HeartbeatRequest,
): Promise<{ answer: HeartbeatResponse; resend: RunRef[] }> {
  const leases = await liveLeases(bridge, instanceId)
  // Compared here: the database would compare each with each under a plan that it made while there were few.
  const reported = new Set(request.runs.map(keyOf))
  const missing = leases.filter((lease) => lease.settled && !reported.has(keyOf(lease)) && !lease.finished)
  const lost = leases.filter((lease) => lease.stale && !lease.finished)
  lost.push(...missing.filter((lease) => !lease.stale && (lease.started || lease.overdue)))
  if (lost.length > 0) {
    const deployments = lost.map((lease) => lease.deployment_id)
    const message = 'The instance no longer has runs that it was given: its leases end before it is given others'
    throw new Refusal(409, 'LEASES_LOST', message, { deployments })
  }
  await refresh(bridge, instanceId, request.version)
  const live = new Set(leases.map(keyOf))
  return {
    answer: { stop: request.runs.filter((run) => !live.has(keyOf(run))) },
    resend: missing.map(({ deployment_id, epoch }) => ({ deployment_id, epoch })),
  }
}

const keyOf = ({ deployment_id, epoch }: RunRef) => `${deployment_id.toLowerCase()}/${epoch}`

async function liveLeases({ database }: Bridge, instanceId: string): Promise<LiveLease[]> {
  const { rows } = await database.query<LiveLease>(
    `SELECT l.deployment_id, l.epoch,
            COALESCE(p.epoch = l.epoch AND p.next_event > 0, false) AS started,
            COALESCE(p.epoch = l.epoch AND p.finished_at IS NOT NULL, false) AS finished,
            l.acquired_at < i.enrolled_at AS stale,
            l.acquired_at < now() - make_interval(secs => ${HANDOVER_SECONDS}) AS settled,
            l.acquired_at < now() - interval '${LOST_AFTER}' AS overdue
     FROM leases l
     JOIN instances i ON i.id = l.instance_id
     LEFT JOIN run_progress p ON p.deployment_id = l.deployment_id
     WHERE l.instance_id = $1 AND l.ended_at IS NULL`,
    [instanceId],
  )
  return rows
}

/** Renews the leases, and tells the dispatcher when the instance may be given work again. */
async function refresh(bridge: Bridge, instanceId: string, version: string): Promise<void> {
  const woke = await bridge.database.transaction(async (tx) => {
    const { rows } = await tx.query<{ changed: boolean }>(
      `UPDATE instances i SET last_heartbeat_at = now(), version = $2
       FROM (SELECT id, version, last_heartbeat_at FROM instances WHERE id = $1 FOR UPDATE) before
       WHERE i.id = before.id
       RETURNING before.version <> $2 OR before.last_heartbeat_at IS NULL
         OR before.last_heartbeat_at < now() - interval '${LOST_AFTER}' AS changed`,
      [instanceId, version],
    )
    if (!rows[0]?.changed) return false
    await enqueue(tx, [eventMessage('instance.updated', { instance_id: instanceId })])
    return true
  })
  if (woke) bridge.wakeRelay()
}
