import type { Database } from '@slipway/database'
import { measure } from '@slipway/runtime'
import { countLocks } from './locks.sql.ts'

export function measureLocks(database: Database): void {
  measure(
    'target_locks',
    {
      slipway_target_locks: { help: 'Targets that a deployment holds, so that another one waits or is refused' },
      slipway_pending_requests_with_locks: { help: 'Pending requests that need targets for themselves' },
    },
    async () => {
      const { locks, waiting } = await countLocks.one(database)
      return { slipway_target_locks: locks, slipway_pending_requests_with_locks: waiting }
    },
  )
}
