import {
  bool,
  hasVersion,
  int8,
  jsonb,
  LOST_AFTER,
  nullable,
  type RowOf,
  statement,
  text,
  uuid,
} from '@slipway/database'

export type PoolInstance = RowOf<typeof findPoolInstances>

/** All instances with their labels, and why they take runs or not. */
export const findPoolInstances = statement({
  name: 'views.pools.find-instances',
  parameters: { version: text },
  row: {
    ...{ tenant_id: nullable(uuid), labels: jsonb<Record<string, string>>() },
    ...{ compatible: bool, living: bool, draining: bool, accepts_runs: bool, slots: int8, taken: int8 },
  },
  sql: `SELECT i.tenant_id, i.labels, ${hasVersion(':version')} AS compatible, i.draining, i.accepts_runs,
           coalesce(i.last_heartbeat_at > now() - interval '${LOST_AFTER}', false) AS living,
           (SELECT count(*) FROM instance_slots s WHERE s.instance_id = i.id AND NOT s.retired) AS slots,
           (SELECT count(*) FROM leases l WHERE l.instance_id = i.id AND l.ended_at IS NULL) AS taken
      FROM instances i WHERE i.removed_at IS NULL`,
})
