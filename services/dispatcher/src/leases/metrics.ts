import type { Database } from '@slipway/database'
import { counter, measure } from '@slipway/runtime'
import { countSlots } from './leases.sql.ts'

export const lostLeases = counter(
  'slipway_leases_lost_total',
  'Leases that ended because their instance gave no sign of life; the run goes to another',
)

export function measureSlots(database: Database): void {
  measure(
    'slots',
    {
      slipway_slots: { help: 'Deployments that all instances that are online could run at once' },
      slipway_leases: { help: 'Leases that are live: deployments that run' },
      slipway_instances: { help: 'Orchestration instances by status', label: 'status' },
    },
    async () => {
      const { slots, leases, online, draining, offline } = await countSlots.one(database)
      return { slipway_slots: slots, slipway_leases: leases, slipway_instances: { online, draining, offline } }
    },
  )
}
