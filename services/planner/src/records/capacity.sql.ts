import {
  array,
  bool,
  int4,
  jsonb,
  nullable,
  rankOf,
  servesTenant,
  statement,
  takesRuns,
  text,
  uuid,
} from '@slipway/database'
import type { InstanceSelector } from '@slipway/domain'

/**
 * Whether instances for the tenant are online, whether one has a free slot, and whether other requests come first: those of the
 * same pool, and those that any instance will do for. With `any` all instances count, else those of the list.
 */
export const findCapacity = statement({
  name: 'planner.capacity.find',
  parameters: {
    ...{ version: text, priority: int4, tenant_id: nullable(uuid) },
    ...{ selector: nullable(jsonb<InstanceSelector>()), any: bool, instance_ids: array(uuid) },
  },
  row: { living: bool, free: bool, others: bool },
  sql: `WITH living AS (
      SELECT id FROM instances
       WHERE ${takesRuns(':version')} AND ${servesTenant(':tenant_id')} AND (:any OR id = ANY (:instance_ids)))
    SELECT EXISTS (SELECT FROM living) AS living,
           EXISTS (SELECT FROM living JOIN instance_slots s ON s.instance_id = living.id AND NOT s.retired
                    WHERE NOT EXISTS (SELECT FROM leases l
                                       WHERE l.instance_id = s.instance_id AND l.slot = s.slot AND l.ended_at IS NULL)
                  ) AS free,
           EXISTS (SELECT FROM pending_requests
                    WHERE status = 'pending' AND rank <= ${rankOf(':priority::int', 'now()')}
                      AND (pool_key IS NULL OR pool_key = md5(:selector::jsonb::text)::uuid)) AS others`,
})
