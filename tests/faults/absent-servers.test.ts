import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import {
  type Api,
  connectTo,
  createAction,
  createLocalTarget,
  createTestDatabase,
  deploymentEnd,
  loginToSuite,
  type ServiceName,
  type Suite,
  serverUrl,
  startSuite,
  startTcpProxy,
  type TcpProxy,
  type TestDatabase,
  waitFor,
  waitForValue,
} from '@slipway/testing'

const SERVICES: ServiceName[] = ['gateway', 'planner', 'dispatcher', 'executor-bridge', 'log-stream']

let database: TestDatabase
let proxies: Record<'database' | 'cache' | 'broker', TcpProxy>
let suite: Suite
let api: Api

beforeAll(async () => {
  database = await createTestDatabase()
  proxies = {
    database: await startTcpProxy(database.url),
    cache: await startTcpProxy(serverUrl('REDIS_URL')),
    broker: await startTcpProxy(serverUrl('RABBITMQ_URL')),
  }
  const env = { DATABASE_URL: proxies.database.url, REDIS_URL: proxies.cache.url, RABBITMQ_URL: proxies.broker.url }
  suite = await startSuite({ database, env })
  api = await loginToSuite(suite)
})
afterEach(async () => {
  for (const proxy of Object.values(proxies)) {
    proxy.refuse(false)
    proxy.resume()
  }
  await suite.restore()
})
afterAll(async () => {
  await suite?.stop()
  for (const proxy of Object.values(proxies ?? {})) await proxy.close()
})

/** Starts services that cannot become ready yet. `ready` resolves when all of them are ready. */
function start(services: ServiceName[], env: Record<string, string> = {}): { ready: Promise<unknown> } {
  const ready = Promise.all(services.map((name) => suite.start(name, env)))
  ready.catch(() => {})
  return { ready }
}

const stop = (services: ServiceName[], signal?: NodeJS.Signals) =>
  Promise.all(services.map((name) => suite.kill(name, signal)))

/** Waits until a service reports these states of its dependencies. */
const says = (name: ServiceName, wanted: Record<string, 'up' | 'down'>) =>
  waitForValue(
    `the dependencies of ${name}`,
    () => suite.dependenciesOf(name),
    (seen) => seen !== null && Object.entries(wanted).every(([each, state]) => seen[each] === state),
  )

/** The steps of the last stop of a service, in order. */
function stopStepsOf(name: ServiceName): string[] {
  const log = suite.logOf(name)
  const steps = log
    .slice(log.lastIndexOf('"message":"stopping"'))
    .matchAll(/"message":"stop step done","step":"([^"]+)"/g)
  return Array.from(steps, ([, step = '']) => step)
}

const login = () => api.call('POST', '/auth/login', suite.admin, { 'x-request-id': 'asked-early' })

async function expectUnavailable(): Promise<void> {
  const { status, headers, body } = await login()
  expect({ status, code: body.error?.code }).toEqual({ status: 503, code: 'SERVICE_UNAVAILABLE' })
  expect(headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
  expect(headers.get('x-request-id')).toBe('asked-early')
}

async function expectDeployment(): Promise<void> {
  const body = { action_id: await createAction(api), target_ids: [await createLocalTarget(api)] }
  const created = await waitFor(
    async () => {
      const answer = await api.post('/deployments', body)
      return answer.status === 201 && answer
    },
    { what: 'a deployment to be created' },
  )
  expect(await deploymentEnd(api, created.body.deployment_id)).toMatchObject({ state: 'success' })
}

test('while no server answers, all services start, report the missing servers, and become ready when the servers are available', async () => {
  await stop(SERVICES)
  for (const proxy of Object.values(proxies)) {
    proxy.cut()
    proxy.freeze()
  }
  const { ready } = start(SERVICES)
  for (const name of SERVICES) await says(name, { database: 'down', migrations: 'down', broker: 'down' })
  for (const name of ['gateway', 'log-stream'] as const) await says(name, { cache: 'down' })
  await expectUnavailable()
  expect(await api.call('GET', '/health')).toMatchObject({ status: 200 })
  expect(await api.call('GET', '/health/ready')).toMatchObject({
    status: 503,
    body: {
      status: 'unavailable',
      dependencies: { database: 'down', migrations: 'down', broker: 'down', cache: 'down', log_stream: 'up' },
    },
  })

  // A service that gets SIGTERM meanwhile stops normally.
  expect(await stop(SERVICES, 'SIGTERM')).toEqual(SERVICES.map(() => 0))
  await expect(ready).rejects.toThrow('ended at its start')

  const again = start(SERVICES)
  for (const name of SERVICES) await says(name, { database: 'down' })
  for (const proxy of Object.values(proxies)) proxy.resume()
  await again.ready
  await expectDeployment()
})

test('without RabbitMQ the gateway answers calls that do not need it, and the bridge accepts syncs', async () => {
  const action_id = await createAction(api)
  const target_ids = [await createLocalTarget(api)]
  await stop(SERVICES)
  proxies.broker.refuse(true)
  const { ready } = start(SERVICES)
  for (const name of SERVICES) await says(name, { database: 'up', migrations: 'up', broker: 'down' })
  await waitFor(async () => (await login()).status === 200, { what: 'a login' })
  expect((await api.get('/deployments')).status).toBe(200)
  const { status, headers, body } = await api.post('/deployments', { action_id, target_ids })
  expect({ status, code: body.error.code }).toEqual({ status: 503, code: 'SERVICE_UNAVAILABLE' })
  expect(headers.has('retry-after')).toBe(true)
  await says('orchestration-instance', { 'executor-bridge': 'up' })

  // A service that stops while it waits stops its tasks before it closes the database.
  expect(await stop(['dispatcher'], 'SIGTERM')).toEqual([0])
  await expect(ready).rejects.toThrow('dispatcher ended at its start')
  const steps = stopStepsOf('dispatcher')
  expect(steps).toEqual(expect.arrayContaining(['dispatch', 'sweeper', 'drift', 'outbox relay']))
  expect(steps.indexOf('database')).toBeGreaterThan(steps.indexOf('outbox relay'))

  proxies.broker.refuse(false)
  await suite.start('dispatcher')
  for (const name of SERVICES) await says(name, { broker: 'up' })
  await expectDeployment()
})

test('without Redis a login gets 503, and succeeds when Redis is available again', async () => {
  await stop(['gateway', 'log-stream'])
  proxies.cache.refuse(true)
  // The limit makes the gateway count logins in Redis. Other tests have no limit.
  const { ready } = start(['gateway', 'log-stream'], { SLIPWAY_LOGIN_OVERRIDES: '127.0.0.1/32=1000' })
  for (const name of ['gateway', 'log-stream'] as const) await says(name, { database: 'up', cache: 'down' })
  await expectUnavailable()
  proxies.cache.refuse(false)
  await ready
  expect((await login()).status).toBe(200)
})

test('after all servers fall silent, services report it, and recover alone when new connections work', async () => {
  for (const proxy of Object.values(proxies)) proxy.freeze()
  for (const name of SERVICES) await says(name, { database: 'down', broker: 'down' })
  // Connections from before the outage stay silent for ever.
  for (const proxy of Object.values(proxies)) {
    proxy.strand()
    proxy.resume()
  }
  for (const name of SERVICES) await says(name, { database: 'up', broker: 'up' })
  await expectDeployment()
})

test('while Redis is silent, streams get no token and deployments run', async () => {
  const takeToken = async () => (await api.post('/auth/sse-token', {})).status
  proxies.cache.freeze()
  for (const name of ['gateway', 'log-stream'] as const) await says(name, { cache: 'down' })
  expect(await takeToken()).toBe(503)
  await expectDeployment()
  proxies.cache.strand()
  proxies.cache.resume()
  for (const name of ['gateway', 'log-stream'] as const) await says(name, { cache: 'up' })
  expect(await takeToken()).toBe(200)
})

test('services report missing migrations, and become ready after the migrations', async () => {
  await stop(SERVICES)
  const owner = await connectTo(database.url)
  try {
    await owner.query('ALTER SCHEMA public RENAME TO migrated')
    await owner.query('CREATE SCHEMA public')
    const { ready } = start(SERVICES)
    for (const name of SERVICES) await says(name, { database: 'up', migrations: 'down', broker: 'up' })
    await expectUnavailable()
    await owner.query('DROP SCHEMA public')
    await owner.query('ALTER SCHEMA migrated RENAME TO public')
    await ready
    await expectDeployment()

    // The schema of the previous release.
    await stop(SERVICES)
    const { rows } = await owner.query(
      `UPDATE _prisma_migrations SET finished_at = NULL
        WHERE migration_name = (SELECT max(migration_name) FROM _prisma_migrations) RETURNING migration_name`,
    )
    const upgraded = start(SERVICES)
    for (const name of SERVICES) await says(name, { database: 'up', migrations: 'down' })
    await waitFor(() => suite.logOf('planner').includes(`the migration ${rows[0].migration_name} was not applied`))
    await owner.query('UPDATE _prisma_migrations SET finished_at = now() WHERE finished_at IS NULL')
    await upgraded.ready
  } finally {
    await owner.end()
  }
})
