import { connectBroker, measureQueues } from '@slipway/broker'
import {
  createDatabase,
  isUnavailable,
  measureConnections,
  startRelay,
  waitForDatabase,
  warnOfOwner,
} from '@slipway/database'
import { listen } from '@slipway/http'
import { KeyRing, runService } from '@slipway/runtime'
import { connectRedis, warnOfDefaultUser } from '@slipway/runtime/redis'
import { createAnalyst } from './analysis/analyst.ts'
import { endpointOf, warnOfAddress } from './analysis/configured.ts'
import type { Bridge } from './bridge.ts'
import { bridgeConfig } from './config.ts'
import { keepLogPartitions } from './events/partitions.ts'
import { createApp } from './http/app.ts'
import { keyPairFilesOf } from './http/encryption.ts'
import { createInstanceHandler } from './instances/handler.ts'
import { wakeOnEvents } from './instances/wake-on-events.ts'
import { serviceAccountRules } from './kubernetes/configured.ts'
import { createServiceAccounts } from './kubernetes/service-accounts.ts'
import { parseAllowedLabels } from './labels.ts'
import { createLiveStreams } from './live-streams.ts'
import { LogVolume } from './log-volume/log-volume.ts'
import { startStatusPublisher } from './targets/status-changes.ts'
import { WakeUps } from './wake-ups.ts'

/** How long an event batch waits for Redis before it continues without it. */
const LIVE_MS = 500
/** The most command messages at a time. Each uses a connection to Postgres. */
const PREFETCH = 4

await runService({
  name: 'executor-bridge',
  config: bridgeConfig,
  async start({ name, config, logger, health, onStop, fatal, signal }) {
    const keyPair = await keyPairFilesOf(config)
    if (config.SLIPWAY_BRIDGE_PLAIN) {
      logger.warn('SLIPWAY_BRIDGE_PLAIN is true: credentials and secrets cross the network unencrypted')
    }
    const keys = KeyRing.parse(config.SLIPWAY_ENCRYPTION_KEYS)
    const database = createDatabase({ url: config.DATABASE_URL, applicationName: name, tenant: '*', logger })
    onStop('database', () => database.close())
    warnOfOwner(database, logger)
    const redis = connectRedis({ url: config.REDIS_URL, name: 'live streams', logger, commandMs: LIVE_MS })
    onStop('redis', () => redis.disconnect())
    warnOfDefaultUser(redis, logger)
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
    measureConnections(database)
    measureQueues(broker)
    // Without Redis everything works, but stream clients get their batches later.
    health.show('cache', async () => (await redis.ping()) === 'PONG')

    const relay = startRelay({ database, logger, publish: (messages) => broker.publish(messages) })
    onStop('outbox relay', () => relay.stop())
    const partitions = keepLogPartitions(database, logger)
    onStop('log partitions', () => partitions.stop())

    const endpoint = endpointOf(config)
    if (endpoint) void warnOfAddress(endpoint, logger)
    const analyst = endpoint && createAnalyst({ endpoint, database, logger })
    if (analyst) onStop('analyses', () => analyst.stop())

    const rules = serviceAccountRules(config)
    const bridge: Bridge = {
      database,
      keys,
      logger,
      live: createLiveStreams(redis, config.SLIPWAY_NAMESPACE, logger),
      wakeUps: new WakeUps(),
      probeSeconds: config.SLIPWAY_PROBE_SECONDS,
      serviceAccounts: rules && createServiceAccounts(rules),
      serviceAccountLabels: parseAllowedLabels(config.SLIPWAY_KUBERNETES_LABELS),
      analyst,
      logVolume: new LogVolume({
        deployment: config.SLIPWAY_LOG_DEPLOYMENT_BYTES,
        tenant_day: config.SLIPWAY_LOG_TENANT_DAY_BYTES,
      }),
      wakeRelay: () => relay.kick(),
    }
    const server = await listen(createApp(bridge, signal), {
      port: config.SLIPWAY_BRIDGE_PORT,
      host: config.SLIPWAY_BRIDGE_HOST,
      variable: 'SLIPWAY_BRIDGE_PORT',
      stopping: signal,
      ...(keyPair ? { tls: { files: keyPair, logger } } : {}),
    })
    onStop('http server', () => server.close())
    await waitForDatabase(database, { health, logger, signal })
    const statusPublisher = startStatusPublisher(bridge)
    onStop('target status', () => statusPublisher.stop())
    // The bridge serves instances without RabbitMQ too. Without an answer of a bridge, an instance kills its commands.
    await wakeOnEvents(broker, bridge.wakeUps)
    await broker.consume('executor.commands', { prefetch: PREFETCH, handle: createInstanceHandler(bridge, broker) })
    onStop('consumer', () => broker.stopConsuming())
    logger.info('instances are served', {
      port: server.port,
      host: config.SLIPWAY_BRIDGE_HOST,
      tls: keyPair !== null,
    })
  },
})
