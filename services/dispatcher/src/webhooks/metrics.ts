import type { Database } from '@slipway/database'
import { counter, measure } from '@slipway/runtime'
import { countPendingDeliveries } from './webhooks.sql.ts'

export const attempts = counter(
  'slipway_webhook_attempts_total',
  'Attempts to deliver to a webhook: delivered, again (later), given_up, gone or lost (another has it)',
  ['outcome'],
)

export function measureDeliveries(database: Database): void {
  measure(
    'webhook_deliveries',
    {
      slipway_webhook_deliveries_pending: { help: 'Deliveries that wait for their first or next attempt' },
      slipway_webhook_overdue_seconds: {
        help: 'How long the delivery, or the event of which one is to be made, is due that is due longest; 0 when none is',
      },
    },
    async () => {
      const { pending, overdue } = await countPendingDeliveries.one(database)
      return { slipway_webhook_deliveries_pending: pending, slipway_webhook_overdue_seconds: overdue }
    },
  )
}
