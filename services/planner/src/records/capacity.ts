import type { Queryable } from '@slipway/database'
import { COMPATIBLE_VERSION } from '@slipway/runtime'
import { servesTenant, takesRuns } from '@slipway/views'

/**
 * What a preview says where a deployment of that priority would not start at once as things are. The dispatcher decides
 * when it comes to it.
 */
export async function capacityWarnings(
  database: Queryable,
  { priority = 0, tenantId }: { priority?: number | undefined; tenantId: string | null },
): Promise<string[]> {
  const { rows } = await database.query<{ living: boolean; free: boolean; others: boolean }>(
    `WITH living AS (SELECT id FROM instances WHERE ${takesRuns('$1')} AND ${servesTenant('$3')})
     SELECT EXISTS (SELECT FROM living) AS living,
            EXISTS (SELECT FROM living JOIN instance_slots s ON s.instance_id = living.id AND NOT s.retired
                     WHERE NOT EXISTS (SELECT FROM leases l
                                        WHERE l.instance_id = s.instance_id AND l.slot = s.slot AND l.ended_at IS NULL)
                   ) AS free,
            EXISTS (SELECT FROM pending_requests WHERE status = 'pending' AND rank <= queue_rank($2, now())) AS others`,
    [COMPATIBLE_VERSION, priority, tenantId],
  )
  const [now] = rows
  if (!now?.living) {
    return ['No compatible orchestration instance is online: the deployment would be queued until one is']
  }
  if (!now.free) return ['No orchestration instance is free: the deployment would be queued']
  return now.others ? ['Other requests wait that come first: the deployment may be queued'] : []
}
