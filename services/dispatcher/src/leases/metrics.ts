import type { Database } from '@slipway/database'
import { counter, measure } from '@slipway/runtime'
import { INSTANCE_STATUS } from '@slipway/views'

export const lostLeases = counter(
  'slipway_leases_lost_total',
  'Leases that ended because their instance gave no sign of life; the run goes to another',
)

interface Counts {
  slots: number
  leases: number
  online: number
  draining: number
  offline: number
}

export function measureSlots(database: Database): void {
  measure(
    'slots',
    {
      slipway_slots: { help: 'Deployments that all instances that are online could run at once' },
      slipway_leases: { help: 'Leases that are live: deployments that run' },
      slipway_instances: { help: 'Orchestration instances by status', label: 'status' },
    },
    async () => {
      const { rows } = await database.query<Counts>(
        `SELECT coalesce(sum(capacity) FILTER (WHERE status = 'online'), 0)::int AS slots,
                (SELECT count(*) FROM leases WHERE ended_at IS NULL) AS leases,
                count(*) FILTER (WHERE status = 'online') AS online,
                count(*) FILTER (WHERE status = 'draining') AS draining,
                count(*) FILTER (WHERE status = 'offline') AS offline
           FROM (SELECT i.capacity, ${INSTANCE_STATUS} AS status FROM instances i WHERE i.removed_at IS NULL) known`,
      )
      const { slots = 0, leases = 0, online = 0, draining = 0, offline = 0 } = rows[0] ?? {}
      return { slipway_slots: slots, slipway_leases: leases, slipway_instances: { online, draining, offline } }
    },
  )
}
