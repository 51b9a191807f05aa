import { connectBroker } from '@slipway/broker'
import { createDatabase, startRelay } from '@slipway/database'
import { createTicker, runService } from '@slipway/runtime'
import { createCommandHandler } from './commands/handler.ts'
import { dispatcherConfig } from './config.ts'
import { createEventHandler } from './events/handler.ts'
import { sweep } from './leases/sweep.ts'
import { drain } from './pending/drain.ts'

/** Below the pool's size: the drain, the sweeper and the relay need connections too. */
const PREFETCH = 6
const TICK_MS = 1_000

await runService({
  name: 'dispatcher',
  config: dispatcherConfig,
  async start({ name, config, logger, health, onStop, fatal }) {
    const database = createDatabase({ url: config.DATABASE_URL, applicationName: name, max: 16 })
    onStop('database', () => database.close())
    health.check('database', () => database.isUp())

    const broker = await connectBroker({
      url: config.RABBITMQ_URL,
      namespace: config.SLIPWAY_NAMESPACE,
      name,
      logger,
      onFatal: fatal,
    })
    onStop('broker', () => broker.close())
    health.check('broker', () => broker.isUp())

    const relay = startRelay({ database, publish: (messages) => broker.publish(messages), logger })
    onStop('outbox relay', () => relay.stop())

    const drainer = createTicker({
      name: 'drain',
      intervalMs: TICK_MS,
      logger,
      run: () => drain({ database, logger, onCommitted: () => relay.kick() }),
    })
    onStop('drain', () => drainer.stop())
    const onCommitted = () => {
      relay.kick()
      drainer.kick()
    }

    const sweeper = createTicker({
      name: 'sweep',
      intervalMs: TICK_MS,
      logger,
      run: async () => {
        if (await sweep(database, logger)) onCommitted()
      },
    })
    onStop('sweeper', () => sweeper.stop())

    await broker.consume('dispatcher.commands', {
      prefetch: PREFETCH,
      handle: createCommandHandler({ database, broker, logger, onCommitted }),
    })
    await broker.consume('dispatcher.events', {
      prefetch: PREFETCH,
      handle: createEventHandler({ database, logger, onCommitted, wake: () => drainer.kick() }),
    })
    onStop('consumers', () => broker.stopConsuming())
  },
})
