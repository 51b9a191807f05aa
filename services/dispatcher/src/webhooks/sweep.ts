import { type Database, Quarantine } from '@slipway/database'
import type { Logger } from '@slipway/runtime'
import { deleteOldDeliveries, giveUpDeliveries, SWEPT } from './webhooks.sql.ts'

/**
 * Marks expired deliveries as failed, for example those of disabled webhooks, and deletes old ones. If one part fails, the
 * other still runs.
 */
export async function sweepDeliveries(database: Database, logger: Logger): Promise<void> {
  const parts = new Quarantine({ task: 'sweep-deliveries', logger })
  await parts.each(
    [giveUpDeliveries, deleteOldDeliveries],
    ({ name }) => name,
    async (sweep) => {
      while ((await sweep.run(database)) === SWEPT);
    },
  )
}
