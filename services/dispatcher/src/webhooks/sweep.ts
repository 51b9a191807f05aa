import { type Database, Quarantine } from '@slipway/database'
import type { Logger } from '@slipway/runtime'
import { deleteOldDeliveries, giveUpDeliveries, SWEPT } from './webhooks.sql.ts'

/**
 * Gives up what was not delivered in time, for example because its webhook is switched off, and deletes what is old.
 * Neither stops the other. No single row can fail: nothing refers to a delivery, and nothing else checks it.
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
