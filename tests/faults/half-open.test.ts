import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import type { Broker } from '@slipway/broker'
import {
  type Api,
  createAction,
  createLocalTarget,
  createTestDatabase,
  deploymentEnd,
  dispatchedDeployment,
  loginToSuite,
  openTestBroker,
  type ServiceName,
  type Suite,
  serverUrl,
  startSuite,
  startTcpProxy,
  type TcpProxy,
  violatedInvariants,
  waitFor,
} from '@slipway/testing'

/** The services that use Postgres, with a second replica of those that share work. */
const OF_POSTGRES: ServiceName[] = [
  'gateway',
  'planner',
  'planner-2',
  'dispatcher',
  'dispatcher-2',
  'executor-bridge',
  'executor-bridge-2',
  'log-stream',
]
const READY_AGAIN_MS = 10_000
/** The services that are not ready without Redis. */
const OF_REDIS: ServiceName[] = ['gateway', 'log-stream']

let postgres: TcpProxy
let redis: TcpProxy
let rabbit: TcpProxy
let suite: Suite
let api: Api
let broker: Broker
let body: { action_id: string; target_ids: string[]; max_retries: number }

beforeAll(async () => {
  const database = await createTestDatabase()
  postgres = await startTcpProxy(database.url)
  redis = await startTcpProxy(serverUrl('REDIS_URL'))
  rabbit = await startTcpProxy(serverUrl('RABBITMQ_URL'))
  const env = { DATABASE_URL: postgres.url, REDIS_URL: redis.url, RABBITMQ_URL: rabbit.url }
  suite = await startSuite({ database, secondReplicas: true, env })
  api = await loginToSuite(suite)
  broker = await openTestBroker(suite.namespace, 'half-open test')
  body = {
    action_id: await createAction(api, { script: 'echo done' }),
    target_ids: [await createLocalTarget(api)],
    max_retries: 3,
  }
})
afterEach(async () => {
  for (const proxy of proxies()) proxy.resume()
  for (const stop of running) await stop()
})
afterAll(async () => {
  await broker?.close()
  await suite?.stop()
  for (const proxy of proxies()) await proxy?.close()
})

const proxies = () => [postgres, redis, rabbit]

const running = new Set<() => Promise<void>>()

/** Starts clients that create one deployment after the other. */
function startLoad(clients: number) {
  const statuses = new Set<number>()
  const accepted: { deployment_id?: string; pending_request_id?: string }[] = []
  let going = true
  const client = async () => {
    while (going) {
      const { status, body: answer } = await api.post('/deployments', body).catch(() => ({ status: 0, body: {} }))
      statuses.add(status)
      if (status === 201 || status === 202) accepted.push(answer)
      await sleep(400)
    }
  }
  const clientsAtWork = Array.from({ length: clients }, client)
  const stop = async () => {
    going = false
    running.delete(stop)
    await Promise.all(clientsAtWork)
  }
  running.add(stop)
  const goesOn = async (timeoutMs: number) => {
    const before = accepted.length
    await waitFor(() => accepted.length > before + 5, { timeoutMs, what: 'deployments to be accepted' })
  }
  return { statuses, accepted, stop, goesOn }
}

/** Asks all services whether they are ready. Each must answer within 1.5 s. */
async function readiness(): Promise<Record<string, boolean>> {
  const answers = await Promise.all(
    OF_POSTGRES.map(async (name) => {
      const began = performance.now()
      const isReady = await suite.isReady(name)
      return { name, isReady, milliseconds: performance.now() - began }
    }),
  )
  for (const { name, milliseconds } of answers)
    expect({ name, late: milliseconds > 1_500 }).toEqual({ name, late: false })
  return Object.fromEntries(answers.map(({ name, isReady }) => [name, isReady]))
}

const all = (value: boolean, of = OF_POSTGRES) => Object.fromEntries(of.map((name) => [name, value]))

async function becomes(value: boolean, timeoutMs: number, of = OF_POSTGRES): Promise<void> {
  let last: Record<string, boolean> = {}
  const isSo = async () => {
    last = Object.fromEntries(Object.entries(await readiness()).filter(([name]) => of.some((each) => each === name)))
    return Object.values(last).every((isReady) => isReady === value)
  }
  await waitFor(isSo, { timeoutMs, everyMs: 200, what: 'it' }).catch(() => expect(last).toEqual(all(value, of)))
}

const queues = [
  'dead-letters',
  'planner.commands',
  'dispatcher.commands',
  'dispatcher.events',
  'executor.commands',
] as const

/** Expects that all accepted deployments succeed, and no message is lost or dead. */
async function expectAllDone({ accepted }: ReturnType<typeof startLoad>): Promise<void> {
  for (const { deployment_id, pending_request_id = '' } of accepted) {
    const id = deployment_id ?? (await dispatchedDeployment(api, pending_request_id))
    expect(await deploymentEnd(api, id)).toMatchObject({ state: 'success' })
  }
  const messages = async () => (await broker.inspect(queues)).map(({ name, messages: count }) => [name, count])
  const none = queues.map((queue) => [queue, 0])
  await waitFor(async () => JSON.stringify(await messages()) === JSON.stringify(none), {
    timeoutMs: 30_000,
    what: 'empty queues',
  }).catch(async () => expect(await messages()).toEqual(none))
  expect(await violatedInvariants(suite.databaseUrl)).toEqual([])
}

describe('connections to Postgres whose server side is gone', () => {
  test('are replaced within seconds under load', async () => {
    const load = startLoad(3)
    await load.goesOn(20_000)
    postgres.strand()
    await sleep(READY_AGAIN_MS)
    load.statuses.clear()
    await load.goesOn(READY_AGAIN_MS)
    expect([...load.statuses].filter((status) => status !== 201 && status !== 202)).toEqual([])
    await becomes(true, 2_000)
    await load.stop()
    await expectAllDone(load)
  })

  test('are replaced after an outage: ready again within 10 s, and no message is dead', async () => {
    const load = startLoad(3)
    await load.goesOn(20_000)
    postgres.freeze()
    await becomes(false, 5_000)
    expect(await readiness()).toEqual(all(false))
    // New connections work again. Connections from before the outage stay silent.
    postgres.strand()
    postgres.resume()
    await becomes(true, READY_AGAIN_MS)
    await load.goesOn(READY_AGAIN_MS)
    await load.stop()
    expect([...load.statuses].filter((status) => ![201, 202, 500, 503].includes(status))).toEqual([])
    await expectAllDone(load)
  })
})

describe('connections to Redis whose server side is gone', () => {
  const takeToken = async () => (await api.post('/auth/sse-token', {})).status

  test('are replaced after an outage of Redis: ready again within 10 s, and deployments ran on meanwhile', async () => {
    redis.freeze()
    await becomes(false, 5_000, OF_REDIS)
    const load = startLoad(1)
    await load.goesOn(20_000)
    await load.stop()
    expect(await takeToken()).toBe(503)
    redis.strand()
    redis.resume()
    await becomes(true, READY_AGAIN_MS)
    const { body: token } = await api.post('/auth/sse-token', {})
    const response = await fetch(`${suite.url}/api/v1/sse/deployments?sse_token=${token.sse_token}`)
    expect(response.status).toBe(200)
    await response.body?.cancel()
    await expectAllDone(load)
  })
})

test('without any server, each service answers within 1.5 s that it is not ready, and recovers by itself', async () => {
  for (const proxy of proxies()) proxy.freeze()
  await becomes(false, 10_000)
  expect(await readiness()).toEqual(all(false))
  for (const proxy of proxies()) proxy.strand()
  for (const proxy of proxies()) proxy.resume()
  await becomes(true, READY_AGAIN_MS)
  const load = startLoad(1)
  await load.goesOn(20_000)
  await load.stop()
  await expectAllDone(load)
})
