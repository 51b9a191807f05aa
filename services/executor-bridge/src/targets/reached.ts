import { eventMessage, type OutboxMessage, type Queryable } from '@slipway/database'
import { REACHED_FOR } from '@slipway/views'
import { storableText } from '../storable.ts'

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
  // The statement sees the facts as they were before it.
  const { rows } = await tx.query<{ target_id: string; tenant_id: string | null }>(
    `WITH reached AS (
       SELECT DISTINCT ON (target_id) target_id, host_key FROM unnest($1::uuid[], $2::text[]) AS r (target_id, host_key)
       ORDER BY target_id
     ), noted AS (
       INSERT INTO target_facts AS f (target_id, host_key, last_seen_at)
       SELECT target_id, host_key, now() FROM reached ORDER BY target_id
       ON CONFLICT (target_id) DO UPDATE SET
         host_key = COALESCE(f.host_key, EXCLUDED.host_key), last_seen_at = EXCLUDED.last_seen_at
     )
     SELECT t.id AS target_id, t.tenant_id
     FROM reached r
     JOIN targets t ON t.id = r.target_id AND t.connection ->> 'type' NOT IN ('local', 'simulated')
     LEFT JOIN target_facts f ON f.target_id = r.target_id
     WHERE f.last_seen_at IS NULL OR f.last_seen_at <= now() - interval '${REACHED_FOR}'
        OR (f.host_key IS NULL AND r.host_key IS NOT NULL)`,
    [reached.map(({ target_id }) => target_id), reached.map(({ host_key }) => textOrNull(host_key))],
  )
  return rows.map((row) => eventMessage('target.updated', row))
}

const textOrNull = (text: string | null) => (text === null ? null : storableText(text))
