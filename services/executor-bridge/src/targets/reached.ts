import { eventMessage, type OutboxMessage, type Queryable } from '@slipway/database'
import { storableText } from '../storable.ts'
import * as sql from './probes.sql.ts'
import { saveContactFailures as saveContactFailuresStatement } from './probes.sql.ts'

export interface ReachedTarget {
  target_id: string
  /** The host key of the target, if it is known. */
  host_key: string | null
}

/**
 * Notes when targets were reached, by an instance or by their own agents (null). A host key is pinned on first use and never replaced here. Returns the events of targets
 * that lists show with another status from now on. The status of local and simulated targets follows the instances instead.
 */
export async function saveContacts(
  tx: Queryable,
  instanceId: string | null,
  reached: readonly ReachedTarget[],
): Promise<OutboxMessage[]> {
  if (reached.length === 0) return []
  const rows = await sql.saveContacts.all(tx, {
    instance_id: instanceId,
    reached: reached.map(({ target_id, host_key }) => ({ target_id, host_key: textOrNull(host_key) })),
  })
  return rows.map((row) => eventMessage('target.updated', row))
}

const textOrNull = (text: string | null) => (text === null ? null : storableText(text))

const MAX_LENGTH = 500
const CONTROL_CHARACTERS = /\p{Cc}+/gu

/** Stores why targets were not reached, by their ids. The text comes from an instance, so it is bounded and made plain. */
export async function saveContactFailures(tx: Queryable, errors: ReadonlyMap<string, string>): Promise<void> {
  const missed = [...errors].map(([target_id, text]) => ({
    target_id,
    error: storableText(text.replaceAll(CONTROL_CHARACTERS, ' ').slice(0, MAX_LENGTH)),
  }))
  await saveContactFailuresStatement.runRows(tx, missed)
}
