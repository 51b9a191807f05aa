import type { Queryable } from '@slipway/database'
import { LOST_AFTER } from '@slipway/views'
import type { StoredConnection } from './records.ts'

export interface DueTarget {
  id: string
  connection: Extract<StoredConnection, { type: 'ssh' }>
  connection_secrets: string | null
  pinned_host_key: string | null
  /** The instance held a lease for this target within the last day, so it knows the credentials already. */
  may_login: boolean
}

/**
 * Targets that this instance is to probe now; no other instance gets them meanwhile. Probes come at the interval, give or
 * take a tenth, so that they do not stay together. Any instance may be asked, with one exception: where another instance
 * did not reach the target, the one that did is asked as long as it is online, and after a miss another one.
 */
export async function takeDue(
  db: Queryable,
  instanceId: string,
  { limit, intervalSeconds }: { limit: number; intervalSeconds: number },
): Promise<DueTarget[]> {
  const { rows } = await db.query<DueTarget>(
    `WITH online AS MATERIALIZED (
       SELECT id FROM instances WHERE removed_at IS NULL AND last_heartbeat_at > now() - interval '${LOST_AFTER}'
     ), due AS (
       SELECT t.id FROM targets t LEFT JOIN target_facts f ON f.target_id = t.id
       WHERE t.enabled AND t.connection ->> 'type' = 'ssh' AND (f.next_probe_at IS NULL OR f.next_probe_at <= now())
         AND (f.last_seen_at IS NULL OR f.last_seen_at <= now() - $2 * interval '0.5 s')
         AND (f.probe_by IS NULL OR f.probe_by = $1 OR f.probe_by NOT IN (SELECT id FROM online))
         AND (f.missed_by IS DISTINCT FROM $1 OR NOT EXISTS (SELECT FROM online WHERE id <> $1))
       ORDER BY f.next_probe_at NULLS FIRST LIMIT $3
     ), taken AS (
       INSERT INTO target_facts AS f (target_id, next_probe_at, asked_of)
       SELECT id, now() + $2 * (0.9 + 0.2 * random()) * interval '1 s', $1 FROM due ORDER BY id
       ON CONFLICT (target_id) DO UPDATE SET next_probe_at = EXCLUDED.next_probe_at, asked_of = EXCLUDED.asked_of
       WHERE f.next_probe_at IS NULL OR f.next_probe_at <= now()
       RETURNING target_id, host_key
     )
     SELECT t.id, t.connection, t.connection_secrets, taken.host_key AS pinned_host_key,
            EXISTS (SELECT FROM leases l JOIN deployment_targets dt ON dt.deployment_id = l.deployment_id
                     WHERE l.instance_id = $1 AND dt.target_id = t.id
                       AND (l.ended_at IS NULL OR l.ended_at > now() - interval '1 day')) AS may_login
     FROM taken JOIN targets t ON t.id = taken.target_id`,
    [instanceId, intervalSeconds, limit],
  )
  return rows
}
