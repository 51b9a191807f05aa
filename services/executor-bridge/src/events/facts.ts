import type { Queryable } from '@slipway/database'
import type { FoldedBatch } from './fold.ts'
import { storableText } from './storable.ts'

/** Notes when targets were reached; a host key is pinned on first use and never replaced here. */
export async function noteTargets(
  tx: Queryable,
  deploymentId: string,
  { seen, hostKeys }: Pick<FoldedBatch, 'seen' | 'hostKeys'>,
): Promise<void> {
  if (seen.size === 0) return
  const targets = [...seen]
  await tx.query(
    `INSERT INTO target_facts AS f (target_id, host_key, last_seen_at)
     SELECT DISTINCT ON (dt.target_id) dt.target_id, s.host_key, now()
     FROM unnest($2::int[], $3::text[]) AS s (target_index, host_key)
     JOIN deployment_targets dt ON dt.deployment_id = $1 AND dt.target_index = s.target_index
     ORDER BY dt.target_id
     ON CONFLICT (target_id) DO UPDATE SET
       host_key = COALESCE(f.host_key, EXCLUDED.host_key), last_seen_at = EXCLUDED.last_seen_at`,
    [deploymentId, targets, targets.map((target) => hostKeyOf(hostKeys, target))],
  )
}

function hostKeyOf(hostKeys: Map<number, string>, target: number): string | null {
  const key = hostKeys.get(target)
  return key === undefined ? null : storableText(key)
}
