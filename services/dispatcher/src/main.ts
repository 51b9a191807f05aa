import { connectBroker, measureQueues } from '@slipway/broker'
import {
  createDatabase,
  isUnavailable,
  measureConnections,
  measureOutbox,
  waitForDatabase,
  warnOfOwner,
} from '@slipway/database'
import { KeyRing, runService } from '@slipway/runtime'
import { dispatcherConfig } from './config.ts'
import { startDispatcher } from './dispatcher.ts'
import { measureDrift } from './drift/metrics.ts'
import { measureSlots } from './leases/metrics.ts'
import { measureLocks } from './locks/metrics.ts'
import { measureQueue } from './pending/metrics.ts'
import { retentionRules } from './retention/settings.ts'
import { measureDeliveries } from './webhooks/metrics.ts'

await runService({
  name: 'dispatcher',
  config: dispatcherConfig,
  async start({ name, config, logger, health, onStop, fatal, signal }) {
    const keys = KeyRing.parse(config.SLIPWAY_ENCRYPTION_KEYS)
    const database = createDatabase({ url: config.DATABASE_URL, applicationName: name, max: 16, tenant: '*', logger })
    onStop('database', () => database.close())
    warnOfOwner(database, logger)

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
    const measures = [
      ...[measureConnections, measureOutbox, measureQueue, measureSlots, measureLocks],
      ...[measureDeliveries, measureDrift],
    ]
    for (const measureIn of measures) measureIn(database)
    measureQueues(broker)
    await waitForDatabase(database, { health, logger, signal })

    const destinations = { allowPrivate: config.SLIPWAY_WEBHOOK_ALLOW_PRIVATE }
    const queue = {
      tenant_running_limit: config.SLIPWAY_TENANT_RUNNING_LIMIT || null,
      analysis_enabled: config.SLIPWAY_ANALYSIS_ENABLED,
      target_concurrency: config.SLIPWAY_TARGET_CONCURRENCY,
    }
    await startDispatcher({
      database,
      broker,
      keys,
      destinations,
      queue,
      checkInterval: config.SLIPWAY_DRIFT_CHECK_INTERVAL,
      retention: retentionRules(config),
      logger,
      onStop,
    })
  },
})
