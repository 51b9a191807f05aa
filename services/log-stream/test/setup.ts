import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import path from 'node:path'
import { type SseTokenRecord, sseTokenKey } from '@slipway/contracts'
import { createDatabase, type Database, type Queryable } from '@slipway/database'
import { createLogger, hashToken, type Logger, listen, randomToken, uuidv7 } from '@slipway/runtime'
import { Redis } from 'ioredis'
import { createApp } from '../src/http/app.ts'
import { connectRedis } from '../src/redis.ts'
import { createHubs, type Hubs } from '../src/streams/hubs.ts'
import { startStreamReader } from '../src/streams/reader.ts'
import { WATCHER_LIMITS, type WatcherLimits } from '../src/streams/watcher.ts'
import { createGuard, type Guard } from '../src/tokens/guard.ts'

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
  const admin = createDatabase({ url: adminUrl, applicationName: 'test', max: 1, tenant: '*' })
  await admin.query(`CREATE DATABASE ${name}`)
  const url = new URL(adminUrl)
  url.pathname = `/${name}`
  execFileSync(process.execPath, [path.join(ROOT, 'packages/database/scripts/migrate.mjs'), 'deploy'], {
    env: { ...process.env, DATABASE_URL: url.href },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const database = createDatabase({ url: url.href, applicationName: 'test', tenant: '*' })
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
  guard: Guard
  /** For the tests themselves. */
  redis: Redis
  /** A token of a new user, or of this one. */
  token(user?: NewUser | KnownUser): Promise<string>
  close(): Promise<void>
}

export interface NewUser {
  permissions?: string[]
  tenant_id?: string | null
}

export interface KnownUser {
  user_id: string
  session_id: string
}

/** A user with a session and a role of their own. */
export async function makeUser(database: Database, user: NewUser = {}): Promise<KnownUser> {
  const { permissions = ['deployments:read'], tenant_id = null } = user
  const id = uuidv7()
  const sessionId = uuidv7()
  if (tenant_id !== null) {
    await database.query(
      'INSERT INTO tenants (id, name, slug) VALUES ($1::uuid, $1::text, $1::text) ON CONFLICT (id) DO NOTHING',
      [tenant_id],
    )
  }
  await database.query(
    `INSERT INTO users (id, email, username, password_hash, tenant_id) VALUES ($1::uuid, $1::text, $1::text, '', $2)`,
    [id, tenant_id],
  )
  await database.query('INSERT INTO roles (id, name, permissions) VALUES ($1::uuid, $1::text, $2)', [id, permissions])
  await database.query('INSERT INTO user_roles (user_id, role_id) VALUES ($1, $1)', [id])
  await database.query(
    `INSERT INTO sessions (id, user_id, token_version, expires_at) VALUES ($1, $2, 1, now() + interval '1 day')`,
    [sessionId, id],
  )
  return { user_id: id, session_id: sessionId }
}

export interface StreamsOptions {
  database: Database
  limits?: Partial<WatcherLimits>
  redisUrl?: string
  logger?: Logger
  checkMs?: number
  resyncMs?: number
  guardMs?: number
  /** Where the guard looks, when not in the same place. */
  guardDatabase?: Queryable
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
  const guard = createGuard({
    database: options.guardDatabase ?? database,
    logger: log,
    checkMs: options.guardMs ?? 100,
    unknownMs: 300,
  })
  const limits = { ...WATCHER_LIMITS, ...options.limits }
  const server = await listen(createApp({ database, redis, namespace, logger: log, hubs, guard, limits }), {
    port: 0,
    host: '127.0.0.1',
    variable: 'none',
  })
  const own = new Redis(redisUrl)
  return {
    url: `http://127.0.0.1:${server.port}`,
    namespace,
    hubs,
    guard,
    redis: own,
    async token(user = {}) {
      const { user_id, session_id } = 'user_id' in user ? user : await makeUser(database, user)
      const token = randomToken()
      const record: SseTokenRecord = {
        user_id,
        session_id: uuidv7(),
        credential: { kind: 'session', id: session_id, token_version: 1 },
      }
      await own.set(sseTokenKey(namespace, hashToken(token)), JSON.stringify(record), 'EX', 60)
      return token
    },
    async close() {
      const closed = server.close()
      await hubs.stop()
      await guard.stop()
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
