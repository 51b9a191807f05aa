import type { Database } from '@slipway/database'
import { measure } from '@slipway/runtime'

export function measureQueue(database: Database): void {
  measure(
    'pending_requests',
    {
      slipway_pending_requests: { help: 'Requests that wait in the queue' },
      slipway_pending_oldest_age_seconds: { help: 'How long the longest waiting request has waited; 0 when none does' },
    },
    async () => {
      const { rows } = await database.query<{ waiting: number; age: number }>(
        `SELECT count(*) AS waiting, coalesce(extract(epoch FROM now() - min(queued_at)), 0)::float8 AS age
           FROM pending_requests WHERE status = 'pending'`,
      )
      return {
        slipway_pending_requests: rows[0]?.waiting ?? 0,
        slipway_pending_oldest_age_seconds: rows[0]?.age ?? 0,
      }
    },
  )
}
