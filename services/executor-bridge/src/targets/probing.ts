import type { ProbeResult, ProbeTarget } from '@slipway/contracts'
import { countRowFailure, enqueue, type RowOf } from '@slipway/database'
import type { Bridge } from '../bridge.ts'
import * as sql from './probes.sql.ts'
import { saveContactFailures, saveContacts } from './reached.ts'
import { sshConnection } from './ssh-connection.ts'

/** A target that was not reached is probed again before it is shown as stale. */
const AGAIN_SECONDS = 10

/**
 * The targets that this instance is to probe now. Probes come at the interval, plus or minus a tenth, to spread them. Any
 * instance may probe a target, with one exception: after an instance has missed a target, the instance that reached it probes
 * it while it is online; after a miss, another one.
 *
 * A probe has credentials only if the instance had them for a run within the last day. Otherwise it ends after the key
 * exchange: no instance gets secrets that it does not need.
 */
export async function dueProbes(bridge: Bridge, instanceId: string, limit: number): Promise<ProbeTarget[]> {
  const { database, probeSeconds: intervalSeconds } = bridge
  if (intervalSeconds === 0 || limit === 0) return []
  const due = await sql.takeDue.all(database, { instance_id: instanceId, interval_seconds: intervalSeconds, limit })
  return due.flatMap((target) => probeTarget(bridge, target))
}

function probeTarget({ keys, logger }: Bridge, target: RowOf<typeof sql.takeDue>): ProbeTarget[] {
  const { may_login, connection_secrets } = target
  try {
    const connection = sshConnection(keys, { ...target, connection_secrets: may_login ? connection_secrets : null })
    const { type: _ssh, host, port, host_key, ...login } = connection
    const known = host_key === undefined ? {} : { host_key }
    return [{ id: target.id, host, port, ...known, ...(may_login ? { login } : {}) }]
  } catch (error) {
    // One unreadable target must not stop the sync. It is due again later.
    countRowFailure('probing')
    logger.warn('a target cannot be probed: its connection or secrets cannot be read', { target_id: target.id, error })
    return []
  }
}

/** Stores the results of probes. A result counts only if this instance was asked for it, at the same address. */
export async function noteProbes(bridge: Bridge, instanceId: string, results: readonly ProbeResult[]): Promise<void> {
  if (results.length === 0) return
  const { database, logger, wakeRelay } = bridge
  const { messages, missed } = await database.transaction(async (tx) => {
    const asked = await sql.lockAsked.all(tx, {
      instance_id: instanceId,
      probed: results,
    })
    const current = new Set(asked.map(({ target_id }) => target_id))
    const own = results.filter(({ id }) => current.has(id))
    const reached = own.filter(({ problem }) => problem === null)
    const messages = await saveContacts(
      tx,
      instanceId,
      reached.map(({ id, host_key }) => ({ target_id: id, host_key })),
    )
    await sql.endReached.run(tx, { instance_id: instanceId, ids: reached.map(({ id }) => id) })
    const errors = new Map(own.flatMap(({ id, problem }) => (problem === null ? [] : [[id, problem] as const])))
    const ids = [...errors.keys()]
    const missed = await sql.endMissed.all(tx, { instance_id: instanceId, ids, again_seconds: AGAIN_SECONDS })
    await saveContactFailures(tx, errors)
    await enqueue(tx, messages)
    return { messages, missed }
  })
  if (messages.length > 0) wakeRelay()
  const problems = new Map(results.map(({ id, problem }) => [id, problem?.slice(0, 500)]))
  for (const { target_id, first } of missed) {
    if (first)
      logger.warn('a target is unreachable', { target_id, instance_id: instanceId, problem: problems.get(target_id) })
  }
}
