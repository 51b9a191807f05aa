import { connectBroker, measureQueues } from '@slipway/broker'
import { createDatabase, isUnavailable, measureConnections, waitForDatabase, warnOfOwner } from '@slipway/database'
import { KeyRing, runService } from '@slipway/runtime'
import { createCommandHandler } from './commands/handler.ts'
import { plannerConfig } from './config.ts'

/** How many plans are made at a time. Each uses up to five connections for a moment. */
const PREFETCH = 8

await runService({
  name: 'planner',
  config: plannerConfig,
  async start({ name, config, logger, health, onStop, fatal, signal }) {
    const keyRing = KeyRing.parse(config.SLIPWAY_ENCRYPTION_KEYS)
    const database = createDatabase({ url: config.DATABASE_URL, applicationName: name, max: 10, tenant: '*', logger })
    onStop('database', () => database.close())
    warnOfOwner(database, logger)
    measureConnections(database)

    const broker = connectBroker({
      url: config.RABBITMQ_URL,
      namespace: config.SLIPWAY_NAMESPACE,
      name,
      logger,
      isUnavailable,
      onFatal: fatal,
    })
    onStop('broker', () => broker.close())
    health.check('broker', () => broker.isUp())
    measureQueues(broker)
    await waitForDatabase(database, { health, logger, signal })

    const handle = createCommandHandler({ database, broker, keyRing, logger })
    await broker.consume('planner.commands', { prefetch: PREFETCH, handle })
    onStop('commands', () => broker.stopConsuming())
  },
})
