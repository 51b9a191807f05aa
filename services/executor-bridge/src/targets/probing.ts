import type { ProbeResult, ProbeTarget } from '@slipway/contracts'
import { countRowFailure, enqueue } from '@slipway/database'
import type { Bridge } from '../bridge.ts'
import { type DueTarget, takeDue } from './due.ts'
import { noteReached } from './reached.ts'
import { sshConnection } from './ssh-connection.ts'

/** A target that was not reached is probed again before it is shown as stale. */
const AGAIN_SECONDS = 10

/**
 * The targets that this instance is to probe now. A probe carries credentials only where the instance had them within
 * the last day, for a run. Otherwise it ends after the key exchange, so that no instance learns what it does not need.
 */
export async function dueProbes(bridge: Bridge, instanceId: string, limit: number): Promise<ProbeTarget[]> {
  const { database, probeSeconds: intervalSeconds } = bridge
  if (intervalSeconds === 0 || limit === 0) return []
  const due = await takeDue(database, instanceId, { limit, intervalSeconds })
  return due.flatMap((target) => probeTarget(bridge, target))
}

function probeTarget({ keys, logger }: Bridge, target: DueTarget): ProbeTarget[] {
  const { may_login, connection_secrets } = target
  try {
    const connection = sshConnection(keys, { ...target, connection_secrets: may_login ? connection_secrets : null })
    const { type: _ssh, host, port, host_key, ...login } = connection
    const known = host_key === undefined ? {} : { host_key }
    return [{ id: target.id, host, port, ...known, ...(may_login ? { login } : {}) }]
  } catch (error) {
    // A target that cannot be read must not keep the instance from its other targets and its runs. It is due again later.
    countRowFailure('probing')
    logger.warn('a target cannot be probed: its connection or secrets cannot be read', { target_id: target.id, error })
    return []
  }
}

/** Keeps what an instance found. Only results count that this instance was asked for, at the address that was asked. */
export async function noteProbes(bridge: Bridge, instanceId: string, results: readonly ProbeResult[]): Promise<void> {
  if (results.length === 0) return
  const { database, logger, wakeRelay } = bridge
  const { messages, missed } = await database.transaction(async (tx) => {
    const { rows: asked } = await tx.query<{ target_id: string }>(
      `SELECT f.target_id FROM target_facts f
       JOIN unnest($2::uuid[], $3::text[], $4::int[]) AS r (id, host, port) ON r.id = f.target_id
       JOIN targets t ON t.id = f.target_id
       WHERE f.asked_of = $1 AND t.connection ->> 'type' = 'ssh'
         AND t.connection ->> 'host' = r.host AND COALESCE((t.connection ->> 'port')::int, 22) = r.port
       ORDER BY f.target_id FOR UPDATE OF f`,
      [instanceId, results.map(({ id }) => id), results.map(({ host }) => host), results.map(({ port }) => port)],
    )
    const current = new Set(asked.map(({ target_id }) => target_id))
    const own = results.filter(({ id }) => current.has(id))
    const reached = own.filter(({ problem }) => problem === null)
    const messages = await noteReached(
      tx,
      reached.map(({ id, host_key }) => ({ target_id: id, host_key })),
    )
    await tx.query(
      `UPDATE target_facts SET asked_of = NULL, missed_by = NULL,
         probe_by = CASE WHEN missed_by IS NULL THEN probe_by ELSE $2::uuid END
       WHERE target_id = ANY($1::uuid[])`,
      [reached.map(({ id }) => id), instanceId],
    )
    const { rows: missed } = await tx.query<{ target_id: string; first: boolean }>(
      `UPDATE target_facts f SET asked_of = NULL, probe_by = NULL, missed_by = $2, next_probe_at =
         CASE WHEN before.missed_by IS NULL THEN now() + make_interval(secs => ${AGAIN_SECONDS}) ELSE f.next_probe_at END
       FROM target_facts before
       WHERE before.target_id = f.target_id AND f.target_id = ANY($1::uuid[])
       RETURNING f.target_id, before.missed_by IS NULL AS first`,
      [own.filter(({ problem }) => problem !== null).map(({ id }) => id), instanceId],
    )
    await enqueue(tx, messages)
    return { messages, missed }
  })
  if (messages.length > 0) wakeRelay()
  const problems = new Map(results.map(({ id, problem }) => [id, problem?.slice(0, 500)]))
  for (const { target_id, first } of missed) {
    if (first)
      logger.warn('a target is not reached', { target_id, instance_id: instanceId, problem: problems.get(target_id) })
  }
}
