import { randomBytes } from 'node:crypto'
import type { SseTokenRecord } from '@slipway/contracts'
import type { Database, Queryable } from '@slipway/database'
import { listen, parseRange } from '@slipway/http'
import { hashToken, KeyRing, type Logger, randomToken, uuidv7 } from '@slipway/runtime'
import { connectRedis, sseTokenKey } from '@slipway/runtime/redis'
import {
  databaseAs,
  redisUrlOf,
  removeNamespace,
  serverUrl,
  testLogger,
  testNamespace,
  waitFor,
} from '@slipway/testing'
import { Redis } from 'ioredis'
import type { ChangeClientLimits } from '../src/changes/change-client.ts'
import { type ChangeStreams, createChangeStreams } from '../src/changes/change-streams.ts'
import { createApp, type RateLimit } from '../src/http/app.ts'
import { createHubs, type Hubs } from '../src/streams/hubs.ts'
import { startStreamReader } from '../src/streams/reader.ts'
import { STREAM_CLIENT_LIMITS, type StreamClientLimits } from '../src/streams/stream-client.ts'
import { createGuard, type StreamGuard } from '../src/tokens/guard.ts'

export const TEST_KEYS = KeyRing.parse(`test:${randomBytes(32).toString('base64')}`)

export interface TestStreams {
  url: string
  namespace: string
  hubs: Hubs
  changeStreams: ChangeStreams
  guard: StreamGuard
  /** A connection of the tests. */
  redis: Redis
  /** Returns a token of a new user or of the given user. */
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

/** Inserts a user with its own session and role. */
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
  limits?: Partial<StreamClientLimits>
  changeClientLimits?: Partial<ChangeClientLimits>
  /** The database of the change streams, if it is another one. */
  feedDatabase?: Database
  /** The database for tokens and deployments of new streams, if it is another one. */
  streamDatabase?: Database
  maxStreams?: number
  maxStreamsPerUser?: number
  maxStreamsPerTenant?: number
  redisUrl?: string
  /** The limit is disabled without a value. */
  rateLimit?: RateLimit['general']
  logger?: Logger
  checkMs?: number
  resyncMs?: number
  guardMs?: number
  /** The database of the guard, if it is another one. */
  guardDatabase?: Queryable
}

/** Starts the service like main.ts, without RabbitMQ. It connects to the given database with its own role. */
export async function startStreams(options: StreamsOptions): Promise<TestStreams> {
  const { redisUrl = redisUrlOf('log-stream') } = options
  const database = databaseAs(options.database, 'log-stream')
  const log = options.logger ?? testLogger
  const namespace = testNamespace()
  // A busy machine may be silent for longer than a service waits before it gives up a connection to Redis.
  const connection = { url: redisUrl, logger: log, silenceMs: 60_000 }
  const redis = connectRedis({ ...connection, name: 'commands' })
  const blocking = connectRedis({ ...connection, name: 'live streams' })
  const reader = startStreamReader(blocking, redis, log)
  const hubs = createHubs({
    database,
    reader,
    namespace,
    logger: log,
    resyncMs: options.resyncMs ?? 200,
    checkMs: options.checkMs ?? 100,
  })
  const changeStreams = createChangeStreams({
    database: options.feedDatabase ?? database,
    keys: TEST_KEYS,
    logger: log,
    checkMs: options.checkMs ?? 100,
    ...(options.changeClientLimits ? { limits: options.changeClientLimits } : {}),
  })
  changeStreams.resume()
  const guard = createGuard({
    max: options.maxStreams ?? 0,
    maxPerUser: options.maxStreamsPerUser ?? 0,
    maxPerTenant: options.maxStreamsPerTenant ?? 0,
    database: options.guardDatabase ?? database,
    logger: log,
    checkMs: options.guardMs ?? 100,
    unknownMs: 300,
  })
  const limits = { ...STREAM_CLIENT_LIMITS, ...options.limits }
  const where = { database: options.streamDatabase ?? database, redis, keys: TEST_KEYS, namespace }
  const rateLimit = {
    general: options.rateLimit ?? { admits: async () => true },
    trustedProxies: ['127.0.0.0/8', '::1'].flatMap((range) => parseRange(range) ?? []),
    keys: TEST_KEYS,
  }
  const server = await listen(createApp({ ...where, logger: log, hubs, changeStreams, guard, limits }, rateLimit), {
    port: 0,
    host: '127.0.0.1',
    variable: 'none',
  })
  const own = new Redis(serverUrl('REDIS_URL'))
  return {
    url: `http://127.0.0.1:${server.port}`,
    namespace,
    hubs,
    changeStreams,
    guard,
    redis: own,
    async token(user = {}) {
      const { user_id, session_id } = 'user_id' in user ? user : await makeUser(options.database, user)
      const token = randomToken()
      const record: SseTokenRecord = {
        user_id,
        session_id: uuidv7(),
        credential: { kind: 'session', id: session_id, token_version: 1 },
      }
      const key = sseTokenKey(namespace, hashToken(token))
      await own.set(key, TEST_KEYS.seal(JSON.stringify(record), key), 'EX', 60)
      return token
    },
    async close() {
      const closed = server.close()
      changeStreams.stop()
      await hubs.stop()
      await guard.stop()
      await closed
      await reader.stop()
      redis.disconnect()
      own.disconnect()
      await removeNamespace(namespace)
    },
  }
}

export const until = (condition: () => Promise<boolean> | boolean, what: string) => waitFor(condition, { what })
