import { MAX_PROBED_TARGETS } from '@slipway/contracts'
import type { Queryable } from '@slipway/database'

export interface DueTarget {
  id: string
  /** As it stands in the table: what is learned holds only as long as it stays so. */
  connection: string
  connection_secrets: string | null
  pinned_host_key: string | null
}

/**
 * Targets that this instance is to look after now, which nobody else is asked for meanwhile. Probes come at the interval
 * give or take a tenth, so that they do not stay together. Any instance may be asked, unless others did not reach the
 * target: then the one that did is, as long as it is there, and after a miss another one where there is any.
 */
export async function takeDue(
  db: Queryable,
  instanceId: string,
  { online, intervalSeconds }: { online: readonly string[]; intervalSeconds: number },
): Promise<DueTarget[]> {
  const { rows } = await db.query<DueTarget>(
    `WITH due AS (
       SELECT t.id FROM targets t LEFT JOIN target_facts f ON f.target_id = t.id
       WHERE t.enabled AND t.connection ->> 'type' = 'ssh' AND (f.next_probe_at IS NULL OR f.next_probe_at <= now())
         AND (f.last_seen_at IS NULL OR f.last_seen_at <= now() - $2 * interval '0.5 s')
         AND (f.probe_by IS NULL OR f.probe_by = $1 OR f.probe_by <> ALL ($3::uuid[]))
         AND (f.missed_by IS DISTINCT FROM $1 OR cardinality($3::uuid[]) = 1)
       ORDER BY f.next_probe_at NULLS FIRST LIMIT ${MAX_PROBED_TARGETS}
     ), taken AS (
       INSERT INTO target_facts AS f (target_id, next_probe_at)
       SELECT id, now() + $2 * (0.9 + 0.2 * random()) * interval '1 s' FROM due ORDER BY id
       ON CONFLICT (target_id) DO UPDATE SET next_probe_at = EXCLUDED.next_probe_at
       WHERE f.next_probe_at IS NULL OR f.next_probe_at <= now()
       RETURNING target_id, host_key
     )
     SELECT t.id, t.connection::text AS connection, t.connection_secrets, taken.host_key AS pinned_host_key
     FROM taken JOIN targets t ON t.id = taken.target_id`,
    [instanceId, intervalSeconds, online],
  )
  return rows
}
