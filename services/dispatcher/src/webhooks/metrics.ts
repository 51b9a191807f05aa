import type { Database } from '@slipway/database'
import { counter, measure } from '@slipway/runtime'

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
      const { rows } = await database.query<{ pending: number; overdue: number }>(
        `SELECT count(*) AS pending, greatest(0, extract(epoch FROM now() -
                  least(min(d.next_attempt_at), (SELECT min(due_at) FROM webhook_events))))::float8 AS overdue
           FROM webhook_deliveries d JOIN webhooks w ON w.id = d.webhook_id
          WHERE d.status = 'pending' AND w.enabled`,
      )
      return {
        slipway_webhook_deliveries_pending: rows[0]?.pending ?? 0,
        slipway_webhook_overdue_seconds: rows[0]?.overdue ?? 0,
      }
    },
  )
}
