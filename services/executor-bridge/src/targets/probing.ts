import type { ProbeRequest, ProbeResponse } from '@slipway/contracts'
import { enqueue, LOST_AFTER, type Queryable } from '@slipway/database'
import { createTicker, SecretError } from '@slipway/runtime'
import type { Bridge } from '../bridge.ts'
import { addressOf } from '../instances/address.ts'
import { postProbe } from '../runs/instance-calls.ts'
import { sshConnection } from '../runs/ssh-connection.ts'
import { type DueTarget, takeDue } from './due.ts'
import { noteReached } from './reached.ts'

/** How often an instance that has answered is asked again; with the size of a call the rate of its probes. */
const EVERY_MS = 2_000
/** One that was not reached is looked after again before it is shown as stale. */
const AGAIN_SECONDS = 10

interface OnlineInstance {
  id: string
  base_url: string
  callback_token_sealed: string
}

export interface Probing {
  /** Resolves when no call is under way. */
  stop(): Promise<void>
}

/** Has instances look which ssh targets can be reached, from now on: only they have a way to them. */
export function startProbing(bridge: Bridge, intervalSeconds: number): Probing {
  const asked = new Map<string, Promise<void>>()
  const abort = new AbortController()
  const ticker = createTicker({
    name: 'probes of targets',
    intervalMs: EVERY_MS,
    logger: bridge.logger,
    async run() {
      const instances = await onlineInstances(bridge.database)
      const online = instances.map(({ id }) => id)
      for (const instance of instances) {
        if (asked.has(instance.id)) continue
        const call = probeBy(bridge, instance, { online, intervalSeconds }, abort.signal)
          .catch((error: unknown) => {
            if (abort.signal.aborted) return
            bridge.logger.warn('an instance could not be asked after targets', { instance_id: instance.id, error })
          })
          .finally(() => asked.delete(instance.id))
        asked.set(instance.id, call)
      }
    },
  })
  return {
    async stop() {
      abort.abort()
      await ticker.stop()
      await Promise.all(asked.values())
    },
  }
}

async function onlineInstances(db: Queryable): Promise<OnlineInstance[]> {
  const { rows } = await db.query<OnlineInstance>(
    `SELECT id, base_url, callback_token_sealed FROM instances
     WHERE removed_at IS NULL AND last_heartbeat_at > now() - interval '${LOST_AFTER}'`,
  )
  return rows
}

/** Asks one instance after the targets that are due for it, and notes what it says. */
export async function probeBy(
  bridge: Bridge,
  instance: OnlineInstance,
  shared: { online: readonly string[]; intervalSeconds: number },
  stop: AbortSignal,
): Promise<void> {
  const due = await takeDue(bridge.database, instance.id, shared)
  const targets = due.flatMap((target) => requestOf(bridge, target))
  if (targets.length === 0) return
  const { results } = await postProbe(addressOf(bridge.keys, instance.id, instance), { targets }, stop)
  await note(bridge, instance.id, due, results)
}

function requestOf({ keys, logger }: Bridge, target: DueTarget): ProbeRequest['targets'] {
  try {
    return [
      { id: target.id, connection: sshConnection(keys, { ...target, connection: JSON.parse(target.connection) }) },
    ]
  } catch (error) {
    if (!(error instanceof SecretError)) throw error
    logger.warn('a target cannot be looked after: its secrets cannot be opened', { target_id: target.id, error })
    return []
  }
}

async function note(
  { database, logger, wakeRelay }: Bridge,
  instanceId: string,
  due: readonly DueTarget[],
  results: ProbeResponse['results'],
): Promise<void> {
  const [reached, missed] = [results.filter(isReached), results.filter((result) => !isReached(result))]
  const { messages, lost } = await database.transaction(async (tx) => {
    // What leads elsewhere by now was not reached, and its key is another's.
    const { rows } = await tx.query<{ id: string }>(
      `SELECT t.id FROM targets t JOIN unnest($1::uuid[], $2::text[]) AS d (id, connection) ON t.id = d.id
       WHERE t.connection::text = d.connection FOR SHARE OF t`,
      [due.map(({ id }) => id), due.map(({ connection }) => connection)],
    )
    const present = new Set(rows.map(({ id }) => id))
    const found = reached.filter(({ id }) => present.has(id)).map(({ id, host_key }) => ({ target_id: id, host_key }))
    const messages = await noteReached(tx, found)
    await tx.query(
      `UPDATE target_facts SET missed_by = NULL, probe_by = $2
       WHERE target_id = ANY($1::uuid[]) AND missed_by IS NOT NULL`,
      [found.map(({ target_id }) => target_id), instanceId],
    )
    const { rows: lost } = await tx.query<{ target_id: string; first: boolean }>(
      `UPDATE target_facts f SET probe_by = NULL, missed_by = $2, next_probe_at =
         CASE WHEN before.missed_by IS NULL THEN now() + make_interval(secs => ${AGAIN_SECONDS}) ELSE f.next_probe_at END
       FROM target_facts before
       WHERE before.target_id = f.target_id AND f.target_id = ANY($1::uuid[])
       RETURNING f.target_id, before.missed_by IS NULL AS first`,
      [missed.map(({ id }) => id).filter((id) => present.has(id)), instanceId],
    )
    await enqueue(tx, messages)
    return { messages, lost }
  })
  if (messages.length > 0) wakeRelay()
  for (const { target_id, first } of lost) {
    const problem = missed.find(({ id }) => id === target_id)?.problem?.slice(0, 500)
    if (first) logger.warn('a target is not reached', { target_id, instance_id: instanceId, problem })
  }
}

const isReached = ({ problem }: ProbeResponse['results'][number]) => problem === null
