import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import path from 'node:path'
import { type SseTokenRecord, sseTokenKey } from '@slipway/contracts'
import { createDatabase, type Database } from '@slipway/database'
import { createLogger, hashToken, type Logger, listen, randomToken } from '@slipway/runtime'
import { Redis } from 'ioredis'
import { createApp } from '../src/http/app.ts'
import { connectRedis } from '../src/redis.ts'
import { createHubs, type Hubs } from '../src/streams/hubs.ts'
import { startStreamReader } from '../src/streams/reader.ts'
import { WATCHER_LIMITS, type WatcherLimits } from '../src/streams/watcher.ts'

const ROOT = path.resolve(import.meta.dirname, '../../..')

export const logger = createLogger({ service: 'test', level: 'error' })
export const redisUrl = process.env['REDIS_URL'] ?? ''

export interface TestDatabase {
  database: Database
  drop(): Promise<void>
}

/** A migrated database of its own. */
export async function makeDatabase(): Promise<TestDatabase> {
  const adminUrl = process.env['DATABASE_URL'] ?? ''
  const name = `slipway_test_${randomBytes(6).toString('hex')}`
  const admin = createDatabase({ url: adminUrl, applicationName: 'test', max: 1 })
  await admin.query(`CREATE DATABASE ${name}`)
  const url = new URL(adminUrl)
  url.pathname = `/${name}`
  execFileSync(process.execPath, [path.join(ROOT, 'packages/database/scripts/migrate.mjs'), 'deploy'], {
    env: { ...process.env, DATABASE_URL: url.href },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const database = createDatabase({ url: url.href, applicationName: 'test' })
  return {
    database,
    async drop() {
      await database.close()
      await admin.query(`DROP DATABASE ${name} WITH (FORCE)`)
      await admin.close()
    },
  }
}

export interface TestStreams {
  url: string
  namespace: string
  hubs: Hubs
  /** For the tests themselves. */
  redis: Redis
  token(fields?: Partial<SseTokenRecord>): Promise<string>
  close(): Promise<void>
}

export interface StreamsOptions {
  database: Database
  limits?: Partial<WatcherLimits>
  redisUrl?: string
  logger?: Logger
  checkMs?: number
  resyncMs?: number
}

/** The service as main.ts makes it, without broker. */
export async function startStreams(options: StreamsOptions): Promise<TestStreams> {
  const { database, redisUrl: url = redisUrl } = options
  const log = options.logger ?? logger
  const namespace = `test-${randomBytes(4).toString('hex')}`
  const redis = connectRedis(url, log)
  const reader = startStreamReader(connectRedis(url, log, 5_000), redis, log)
  const hubs = createHubs({
    database,
    reader,
    namespace,
    logger: log,
    resyncMs: options.resyncMs ?? 200,
    checkMs: options.checkMs ?? 100,
  })
  const limits = { ...WATCHER_LIMITS, ...options.limits }
  const server = await listen(createApp({ database, redis, namespace, logger: log, hubs, limits }), {
    port: 0,
    host: '127.0.0.1',
    variable: 'none',
  })
  const own = new Redis(redisUrl)
  return {
    url: `http://127.0.0.1:${server.port}`,
    namespace,
    hubs,
    redis: own,
    async token(fields = {}) {
      const token = randomToken()
      const record: SseTokenRecord = {
        user_id: '01936d6e-0000-7000-8000-000000000001',
        tenant_id: null,
        session_id: 's',
        permissions: ['deployments:read'],
        ...fields,
      }
      await own.set(sseTokenKey(namespace, hashToken(token)), JSON.stringify(record), 'EX', 60)
      return token
    },
    async close() {
      const closed = server.close()
      await hubs.stop()
      await closed
      await reader.stop()
      redis.disconnect()
      const keys = await own.keys(`${namespace}:*`)
      if (keys.length > 0) await own.del(keys)
      own.disconnect()
    },
  }
}

/** Waits until the condition holds. */
export async function until(condition: () => Promise<boolean> | boolean, what: string): Promise<void> {
  const end = Date.now() + 20_000
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`it never came: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
