import { eventMessage, type OutboxMessage, type Queryable } from '@slipway/database'
import type { FoldedBatch } from './fold.ts'
import { storableText } from './storable.ts'

/** A target that was not reached for this long is shown as something else than online. */
const ONLINE_FOR = '90 seconds'

/**
 * Notes when targets were reached; a host key is pinned on first use and never replaced here. Returns what tells of those
 * that lists show otherwise from now on. A local or simulated target's state follows the
 * instances', not this.
 */
export async function noteTargets(
  tx: Queryable,
  deploymentId: string,
  { seen, hostKeys }: Pick<FoldedBatch, 'seen' | 'hostKeys'>,
): Promise<OutboxMessage[]> {
  if (seen.size === 0) return []
  const targets = [...seen]
  // The statement sees the facts as they were before it.
  const { rows } = await tx.query<{ target_id: string; tenant_id: string | null }>(
    `WITH reached AS (
       SELECT DISTINCT ON (dt.target_id) dt.target_id, s.host_key
       FROM unnest($2::int[], $3::text[]) AS s (target_index, host_key)
       JOIN deployment_targets dt ON dt.deployment_id = $1 AND dt.target_index = s.target_index
       ORDER BY dt.target_id
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
     WHERE f.last_seen_at IS NULL OR f.last_seen_at <= now() - interval '${ONLINE_FOR}'
        OR (f.host_key IS NULL AND r.host_key IS NOT NULL)`,
    [deploymentId, targets, targets.map((target) => hostKeyOf(hostKeys, target))],
  )
  return rows.map((row) => eventMessage('target.updated', row))
}

function hostKeyOf(hostKeys: Map<number, string>, target: number): string | null {
  const key = hostKeys.get(target)
  return key === undefined ? null : storableText(key)
}
