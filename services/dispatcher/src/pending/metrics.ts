import type { Database } from '@slipway/database'
import { measure } from '@slipway/runtime'
import { countPending } from './queue.sql.ts'

export function measureQueue(database: Database): void {
  measure(
    'pending_requests',
    {
      slipway_pending_requests: { help: 'Requests that wait in the queue' },
      slipway_pending_oldest_age_seconds: { help: 'How long the longest waiting request has waited; 0 when none does' },
    },
    async () => {
      const { pending, age } = await countPending.one(database)
      return { slipway_pending_requests: pending, slipway_pending_oldest_age_seconds: age }
    },
  )
}
