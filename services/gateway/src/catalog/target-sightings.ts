import type { Queryable } from '@slipway/database'

export interface Sighting {
  id: string
  status: 'online' | 'stale' | 'offline'
  last_seen_at: Date | null
  /** The key that an SSH host showed when it was first reached. */
  host_key: string | null
}

/**
 * When each target was last reached, and what that makes it, by the database's clock. Nothing ever reaches a local
 * target: it is there while an instance is.
 */
export async function targetSightings(db: Queryable, ids: string[]): Promise<Map<string, Sighting>> {
  const { rows } = await db.query<Sighting>(
    `WITH seen AS (
       SELECT t.id, f.host_key, t.connection ->> 'type' = 'local' AS is_local,
         CASE WHEN t.connection ->> 'type' = 'local' THEN (SELECT max(last_heartbeat_at) FROM instances)
              ELSE f.last_seen_at END AS last_seen_at
       FROM targets t LEFT JOIN target_facts f ON f.target_id = t.id
       WHERE t.id = ANY($1::uuid[]))
     SELECT id, host_key, last_seen_at,
       CASE WHEN last_seen_at > now() - CASE WHEN is_local THEN interval '30 s' ELSE interval '90 s' END THEN 'online'
            WHEN last_seen_at > now() - interval '10 min' THEN 'stale'
            ELSE 'offline' END AS status
     FROM seen`,
    [ids],
  )
  return new Map(rows.map((row) => [row.id, row]))
}
