import { connectBroker } from '@slipway/broker'
import { createDatabase, measureConnections, waitForDatabase, warnOfOwner } from '@slipway/database'
import { listen } from '@slipway/http'
import { connectLimits, createGeneralLimit, readRateSettings } from '@slipway/http/limits'
import { KeyRing, runService } from '@slipway/runtime'
import { connectRedis, isRedisUp, warnOfDefaultUser } from '@slipway/runtime/redis'
import { createChangeStreams } from './changes/change-streams.ts'
import { logStreamConfig } from './config.ts'
import { wakeByEvents } from './events/handler.ts'
import { createApp } from './http/app.ts'
import { createHubs } from './streams/hubs.ts'
import { startStreamReader } from './streams/reader.ts'
import { STREAM_CLIENT_LIMITS } from './streams/stream-client.ts'
import { createGuard } from './tokens/guard.ts'

/** Longer than a blocking read waits. */
const BLOCKING_READ_MS = 5_000

await runService({
  name: 'log-stream',
  config: logStreamConfig,
  async start({ name, config, logger, health, onStop, fatal, signal }) {
    const namespace = config.SLIPWAY_NAMESPACE
    const keys = KeyRing.parse(config.SLIPWAY_ENCRYPTION_KEYS)
    const { trustedProxies, rate } = readRateSettings(config)
    const database = createDatabase({ url: config.DATABASE_URL, applicationName: name, tenant: '*', logger })
    onStop('database', () => database.close())
    warnOfOwner(database, logger)
    const redis = connectRedis({ url: config.REDIS_URL, name: 'commands', logger })
    onStop('redis', () => redis.disconnect())
    warnOfDefaultUser(redis, logger)
    const limitsRedis = connectLimits(config.REDIS_URL, logger)
    onStop('limits', async () => limitsRedis.disconnect())
    const broker = connectBroker({ url: config.RABBITMQ_URL, namespace, name, logger, onFatal: fatal })
    onStop('broker', () => broker.close())
    health.check('broker', () => broker.isUp())
    health.check('cache', () => isRedisUp(redis))
    measureConnections(database)

    const blocking = connectRedis({
      url: config.REDIS_URL,
      name: 'live streams',
      logger,
      silenceMs: BLOCKING_READ_MS,
    })
    const reader = startStreamReader(blocking, redis, logger)
    onStop('live streams', () => reader.stop())
    const hubs = createHubs({ database, reader, namespace, logger })
    const changeStreams = createChangeStreams({ database, keys, logger })
    const guard = createGuard({
      database,
      logger,
      max: config.SLIPWAY_MAX_STREAMS,
      maxPerUser: config.SLIPWAY_MAX_STREAMS_PER_USER,
      maxPerTenant: config.SLIPWAY_MAX_STREAMS_PER_TENANT,
    })
    onStop('guard of open streams', () => guard.stop())
    const rateLimit = {
      general: createGeneralLimit({ redis: limitsRedis, namespace, rate, logger }),
      trustedProxies,
      keys,
    }
    const app = createApp(
      { database, redis, keys, namespace, logger, hubs, changeStreams, guard, limits: STREAM_CLIENT_LIMITS },
      rateLimit,
    )
    const server = await listen(app, {
      port: config.SLIPWAY_LOG_STREAM_PORT,
      host: config.SLIPWAY_LOG_STREAM_HOST,
      variable: 'SLIPWAY_LOG_STREAM_PORT',
      stopping: signal,
    })
    onStop('streams', async () => {
      const closed = server.close()
      changeStreams.stop()
      await hubs.stop()
      await closed
    })
    await waitForDatabase(database, { health, logger, signal })
    await wakeByEvents(broker, { hubs, guard, changeStreams })
    onStop('consumer', () => broker.stopConsuming())
    logger.info('streams are served', { port: server.port, host: config.SLIPWAY_LOG_STREAM_HOST })
  },
})
