import { expect } from '@jest/globals'
import { type Broker, connectBroker } from '@slipway/broker'
import { compile, errorCodesOf, OPERATIONS, type Operation, type OperationId } from '@slipway/contracts'
import { createDatabase, type Database, type DatabaseOptions } from '@slipway/database'
import type { Limits } from '@slipway/http/limits'
import { createLogger, KeyRing, randomToken, uuidv7 } from '@slipway/runtime'
import { ScriptReader } from '@slipway/scripts'
import { createTestDatabase, redisUrlOf, removeNamespace, serverUrl } from '@slipway/testing'
import bcrypt from 'bcrypt'
import { Redis } from 'ioredis'
import request from 'supertest'
import { connectCache } from '../src/cache.ts'
import { createAccessTokens } from '../src/credentials/access-token.ts'
import { createPasswordHasher } from '../src/credentials/passwords.ts'
import type { Dependencies } from '../src/dependencies.ts'
import { createGateway, type Gateway } from '../src/gateway.ts'
import { ANSWER_TIMES } from '../src/handler.ts'
import { seedIdentity } from '../src/identity/first-admin.ts'
import { createProviderClients } from '../src/login-providers/provider-client.ts'
import { NO_PROVIDERS } from '../src/login-providers/providers-file.ts'
import { inTurns } from '../src/script-turns.ts'

/** One thread for all files of a worker. It ends with the process. */
const scripts = new ScriptReader()

export const ADMIN = { email: 'admin@example.com', password: 'correct-horse-battery' }
export const JWT_KEY = Buffer.alloc(32, 9)
export const logger = createLogger({ service: 'test', level: 'error', stream: process.stderr })
export const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000'

/** Disables the limits: many tests log in often from one address. */
const NO_LIMITS: Limits = {
  general: { admits: async () => true },
  login: { attempt: async () => {} },
  exchange: { check: async () => {}, countFailure: async () => {} },
  providerLogin: { admits: async () => true },
}

export interface TestGateway extends Gateway {
  dependencies: Dependencies
  /** A connection as the owner of the tables. It sees the rows of all tenants. */
  database: Database
  /** A connection with the rights of the gateway for tests without a call. It sees the rows of all tenants. */
  asGateway: Database
  broker: Broker
  /** A connection with all rights. The gateway itself may not read all of its keys. */
  redis: Redis
  namespace: string
  /** A token of the first administrator, who belongs to no tenant. */
  adminToken: string
  close(): Promise<void>
}

/** Starts the gateway like main.ts, on real servers, with its own database and namespace. */
export async function startGateway(
  overrides: Partial<Dependencies> = {},
  pool: Pick<DatabaseOptions, 'bounds'> = {},
): Promise<TestGateway> {
  const testDatabase = await createTestDatabase()
  const namespace = `test-${randomToken(8)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '')}`
  // The gateway has the rights of its role and sees what each caller may see.
  // `database` belongs to the owner and sees all rows. Tests prepare and inspect rows with it.
  const ofCallers = createDatabase({ url: testDatabase.urlOf('gateway'), applicationName: 'gateway test', ...pool })
  const database = createDatabase({ url: testDatabase.url, applicationName: 'gateway test', tenant: '*' })
  const asGateway = createDatabase({
    url: testDatabase.urlOf('gateway'),
    applicationName: 'gateway test',
    tenant: '*',
  })
  const broker = connectBroker({
    url: serverUrl('RABBITMQ_URL'),
    namespace,
    name: 'gateway test',
    logger,
    onFatal: (error) => {
      throw error
    },
  })
  await broker.connected()
  // A busy machine may be silent for longer than the 2 s after which a service gives up a connection to Redis.
  const cache = connectCache(redisUrlOf('gateway'), logger, { silenceMs: 60_000 })
  const redis = new Redis(serverUrl('REDIS_URL'), { lazyConnect: true })
  const passwords = createPasswordHasher(4)
  await seedIdentity(asGateway, { admin: ADMIN, passwords, logger })
  const accessTokens = createAccessTokens(`test:${JWT_KEY.toString('base64')}`)
  const dependencies: Dependencies = {
    database: ofCallers,
    broker,
    cache,
    scripts: inTurns(scripts),
    keys: KeyRing.parse(`test:${Buffer.alloc(32, 7).toString('base64')}`),
    accessTokens,
    passwords,
    codeClock: Date.now,
    cookieSecure: true,
    passwordLogin: true,
    providers: NO_PROVIDERS,
    providerClients: createProviderClients({ logger, publicUrl: 'https://slipway.test' }),
    limits: NO_LIMITS,
    answerTimes: ANSWER_TIMES,
    trustedProxies: [],
    contentLimits: { tenantBytes: 0, totalBytes: 0 },
    freezesPerTenant: 200,
    webhookDestinations: { allowPrivate: false },
    tokenIssuers: { allowPrivate: false, isDevelopment: true },
    tokenClock: Date.now,
    logger,
    namespace,
    logStreamUrl: 'http://127.0.0.1:1',
    readiness: async () => ({ ready: true, dependencies: {} }),
    hasDatabase: () => true,
    outboxChanged() {},
    ...overrides,
  }
  const gateway = createGateway(dependencies)
  const { rows } = await database.query<{ id: string }>('SELECT id FROM users')
  return {
    ...gateway,
    dependencies,
    database,
    asGateway,
    broker,
    redis,
    namespace,
    adminToken: await tokenFor({ database, accessTokens }, rows[0]?.id ?? ''),
    async close() {
      gateway.endStreams()
      await broker.close()
      await cache.close()
      redis.disconnect()
      await database.close()
      await asGateway.close()
      await ofCallers.close()
      await testDatabase.drop()
      await removeNamespace(namespace)
    },
  }
}

/** Returns an access token of a new session, without a login. */
export async function tokenFor(
  { database, accessTokens }: Pick<Dependencies, 'database' | 'accessTokens'>,
  userId: string,
): Promise<string> {
  const { rows } = await database.query<{ id: string }>(
    `INSERT INTO sessions (id, user_id, token_version, expires_at)
     SELECT $2, id, token_version, now() + interval '1 day' FROM users WHERE id = $1 RETURNING id`,
    [userId, uuidv7()],
  )
  return accessTokens.issue({ user_id: userId, session_id: rows[0]?.id ?? '' })
}

/** A replica whose callers wait for no command: the answer and the effect of each come too late. */
export const impatient = (gateway: TestGateway): Gateway =>
  createGateway({ ...gateway.dependencies, answerTimes: { ...ANSWER_TIMES, effectMs: 0, answerMs: 0 } })

export interface NewUser {
  role: 'admin' | 'operator' | 'user'
  tenant_id?: string | null
  status?: string
  password?: string
}

/** Inserts a user into the database and returns it with a token. */
export async function addUser({ database, dependencies }: TestGateway, user: NewUser) {
  const id = uuidv7()
  const email = `${id}@example.com`
  const hash = await bcrypt.hash(user.password ?? 'unused-password', 4)
  await database.query(
    `INSERT INTO users (id, email, username, password_hash, status, tenant_id) VALUES ($1, $2, $3, $4, $5, $6)`,
    [id, email, `user-${id}`, hash, user.status ?? 'active', user.tenant_id ?? null],
  )
  await database.query(`INSERT INTO user_roles SELECT $1, id FROM roles WHERE name = $2`, [id, user.role])
  return { id, email, username: `user-${id}`, token: await tokenFor({ ...dependencies, database }, id) }
}

/** Creates a tenant and returns a client of an administrator of that tenant. */
export async function addTenant(gateway: TestGateway, name: string): Promise<{ id: string; admin: Client }> {
  const { body } = await clientOf(gateway, gateway.adminToken).send('createTenant', '/tenants', { name })
  const { token } = await addUser(gateway, { role: 'admin', tenant_id: body.id })
  return { id: body.id, admin: clientOf(gateway, token) }
}

const validators = new Map<string, ReturnType<typeof compile>>()

/** Fails unless the contracts allow this answer for the operation. */
export function expectAnswer(id: OperationId, response: { status: number; body: unknown }): void {
  const schema = (OPERATIONS[id] as Operation).responses[response.status]
  if (schema === undefined) throw new Error(`${id} promises no ${response.status}: ${JSON.stringify(response.body)}`)
  if (schema === null || typeof schema === 'string') return
  const key = `${id} ${response.status}`
  const validate = validators.get(key) ?? compile(schema)
  validators.set(key, validate)
  expect(validate(response.body)).toEqual([])
}

/** A client that sends JSON with a token and checks every answer, including refusals, against the contracts. */
export function clientOf(gateway: Pick<TestGateway, 'app'>, token: string) {
  async function send(id: OperationId, path: string, body?: object, headers: Record<string, string> = {}) {
    const method = OPERATIONS[id].method.toLowerCase() as 'get' | 'post' | 'delete'
    const call = request(gateway.app)
      [method](`/api/v1${path}`)
      .set({ Authorization: `Bearer ${token}`, ...headers })
    const response = body === undefined ? await call : await call.send(body)
    if (response.status < 400) expectAnswer(id, response)
    else
      expect({ id, codes: errorCodesOf(OPERATIONS[id]) }).toEqual({
        id,
        codes: expect.arrayContaining([response.body.error.code]),
      })
    return response
  }
  return { send }
}

export type Client = ReturnType<typeof clientOf>

/** The status, code and details of a refusal, without its message. */
export const refusal = (response: { status: number; body: { error?: { code: string; details?: unknown } } }) => ({
  status: response.status,
  code: response.body.error?.code,
  ...(response.body.error?.details === undefined ? {} : { details: response.body.error.details }),
})

export const refused = (status: number, code: string, details?: unknown) => ({
  status,
  code,
  ...(details === undefined ? {} : { details }),
})

/** The answer to a write of what another record has already, with the field. */
export const taken = (path: string) => refused(409, 'CONFLICT', { errors: [{ path, message: expect.any(String) }] })
