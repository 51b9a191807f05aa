import { connectBroker } from '@slipway/broker'
import {
  createDatabase,
  forAllTenants,
  measureConnections,
  startRelay,
  waitForDatabase,
  warnOfOwner,
  warnWithoutRowLevelSecurity,
} from '@slipway/database'
import { listen } from '@slipway/http'
import { connectLimits, createLimits, readLimitSettings } from '@slipway/http/limits'
import { KeyRing, runService } from '@slipway/runtime'
import { warnOfDefaultUser } from '@slipway/runtime/redis'
import { ScriptReader } from '@slipway/scripts'
import { measureAuditHead, startAuditLinker } from './audit/linker.ts'
import { connectCache } from './cache.ts'
import { gatewayConfig } from './config.ts'
import { measureContent } from './content/quota.ts'
import { startContentSweep } from './content/sweep.ts'
import { createAccessTokens } from './credentials/access-token.ts'
import { createPasswordHasher } from './credentials/passwords.ts'
import { startKeySweeper } from './deployments/idempotency.ts'
import { createGateway } from './gateway.ts'
import { ANSWER_TIMES } from './handler.ts'
import { answersAtAll } from './http/stream-proxy.ts'
import { seedIdentity } from './identity/first-admin.ts'
import { startTokenSweeper } from './identity/tokens/sweep.ts'
import { reportUnknownNames } from './login-providers/names-report.ts'
import { createProviderClients } from './login-providers/provider-client.ts'
import { NO_PROVIDERS, type Provider, watchProviders } from './login-providers/providers-file.ts'
import { readPublicUrl } from './login-providers/settings.ts'
import { inTurns } from './script-turns.ts'

await runService({
  name: 'gateway',
  config: gatewayConfig,
  async start({ name, config, logger, health, onStop, fatal, signal }) {
    const keys = KeyRing.parse(config.SLIPWAY_ENCRYPTION_KEYS)
    const accessTokens = createAccessTokens(config.SLIPWAY_JWT_KEYS)
    const limitSettings = readLimitSettings(config)
    const passwords = createPasswordHasher()
    const scripts = new ScriptReader()
    onStop('script reader', () => scripts.close())

    const database = createDatabase({ url: config.DATABASE_URL, applicationName: `slipway ${name}`, logger })
    onStop('database', () => database.close())
    warnOfOwner(database, logger)
    measureConnections(database)
    measureContent(database)

    const cache = connectCache(config.REDIS_URL, logger)
    onStop('cache', () => cache.close())
    health.check('cache', () => cache.isUp())
    const limitsRedis = connectLimits(config.REDIS_URL, logger)
    onStop('limits', async () => limitsRedis.disconnect())
    warnOfDefaultUser(limitsRedis, logger)

    const broker = connectBroker({
      url: config.RABBITMQ_URL,
      namespace: config.SLIPWAY_NAMESPACE,
      name,
      logger,
      onFatal: fatal,
    })
    onStop('broker', () => broker.close())
    health.check('broker', () => broker.isUp())
    health.show('log_stream', () => answersAtAll(config.SLIPWAY_LOG_STREAM_URL))

    const publicUrl = readPublicUrl(config)
    const reportNames = (found: readonly Provider[]) =>
      forAllTenants(() => reportUnknownNames(database, found, logger)).catch((error) =>
        logger.warn('the names in the rules of the login providers could not be checked', { error }),
      )
    const providers =
      config.SLIPWAY_OIDC_FILE === undefined
        ? NO_PROVIDERS
        : watchProviders({
            file: config.SLIPWAY_OIDC_FILE,
            isDevelopment: config.SLIPWAY_DEVELOPMENT,
            logger,
            onChange: (changed) => void reportNames(changed),
          })
    onStop('file of login providers', () => providers.stop())
    if (!config.SLIPWAY_PASSWORD_LOGIN && providers.all().length === 0) {
      logger.warn('password login is off and there is no login provider: only users with break_glass can log in')
    }

    let hasDatabase = false
    const gateway = createGateway({
      database,
      broker,
      cache,
      keys,
      scripts: inTurns(scripts),
      accessTokens,
      passwords,
      codeClock: Date.now,
      cookieSecure: config.SLIPWAY_COOKIE_SECURE,
      passwordLogin: config.SLIPWAY_PASSWORD_LOGIN,
      providers,
      providerClients: createProviderClients({ logger, publicUrl }),
      limits: createLimits({
        redis: limitsRedis,
        namespace: config.SLIPWAY_NAMESPACE,
        settings: limitSettings,
        logger,
      }),
      answerTimes: ANSWER_TIMES,
      trustedProxies: limitSettings.trustedProxies,
      contentLimits: {
        tenantBytes: config.SLIPWAY_CONTENT_TENANT_BYTES,
        totalBytes: config.SLIPWAY_CONTENT_TOTAL_BYTES,
      },
      freezesPerTenant: config.SLIPWAY_FREEZES_PER_TENANT,
      tokenIssuers: {
        allowPrivate: config.SLIPWAY_OIDC_ALLOW_PRIVATE,
        isDevelopment: config.SLIPWAY_DEVELOPMENT,
      },
      tokenClock: Date.now,
      webhookDestinations: { allowPrivate: config.SLIPWAY_WEBHOOK_ALLOW_PRIVATE },
      logger,
      namespace: config.SLIPWAY_NAMESPACE,
      logStreamUrl: config.SLIPWAY_LOG_STREAM_URL,
      readiness: () => health.report(),
      outboxChanged: () => relay.kick(),
      hasDatabase: () => hasDatabase,
    })
    const server = await listen(gateway.app, {
      host: config.SLIPWAY_HOST,
      port: config.SLIPWAY_PORT,
      variable: 'SLIPWAY_PORT',
      stopping: signal,
    })
    logger.info('the API listens', { host: config.SLIPWAY_HOST, port: server.port })

    await waitForDatabase(database, { health, logger, signal }, async () => {
      await warnWithoutRowLevelSecurity(database, logger)
      const admin = { email: config.SLIPWAY_ADMIN_EMAIL, password: config.SLIPWAY_ADMIN_PASSWORD }
      await forAllTenants(() => seedIdentity(database, { admin, passwords, logger }))
    })
    hasDatabase = true
    void reportNames(providers.all())
    const relay = startRelay({ database, publish: (messages) => broker.publish(messages), logger })
    onStop('outbox relay', () => relay.stop())
    const linker = startAuditLinker(database, logger)
    onStop('audit chain', () => linker.stop())
    measureAuditHead(linker)
    const sweep = startContentSweep(database, config.SLIPWAY_CONTENT_RETENTION_DAYS, logger)
    onStop('content sweep', () => sweep.stop())
    const keySweeper = startKeySweeper(database, logger)
    onStop('idempotency keys', () => keySweeper.stop())
    const tokenSweeper = startTokenSweeper(database, logger)
    onStop('exchanged tokens', () => tokenSweeper.stop())
    onStop('requests in hand', () => server.close())
    onStop('open streams', () => gateway.endStreams())
    await broker.connected()
  },
})
