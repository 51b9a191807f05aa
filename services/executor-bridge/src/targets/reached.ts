import { eventMessage, type OutboxMessage, type Queryable } from '@slipway/database'
import { storableText } from '../storable.ts'
import * as sql from './probes.sql.ts'

export interface Reached {
  target_id: string
  /** The key that it showed where that is known. */
  host_key: string | null
}

/**
 * Notes when targets were reached; a host key is pinned on first use and never replaced here. Returns what tells of those
 * that lists show otherwise from now on. A local or simulated target's state follows the instances', not this.
 */
export async function noteReached(tx: Queryable, reached: readonly Reached[]): Promise<OutboxMessage[]> {
  if (reached.length === 0) return []
  const ids = reached.map(({ target_id }) => target_id)
  const host_keys = reached.map(({ host_key }) => textOrNull(host_key))
  const rows = await sql.noteReached.all(tx, { ids, host_keys })
  return rows.map((row) => eventMessage('target.updated', row))
}

const textOrNull = (text: string | null) => (text === null ? null : storableText(text))
