import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import {
  type Api,
  connectTo,
  createAction,
  createLocalTargets,
  createSequence,
  createWithRetries,
  loginToSuite,
  type ServiceName,
  type Suite,
  serverUrl,
  startReceiver,
  startSuite,
  startTcpProxy,
  type TcpProxy,
  violatedInvariants,
  waitFor,
  waitForValue,
  wipeBroker,
} from '@slipway/testing'

const RETRIES = 4

let rabbit: TcpProxy
let suite: Suite
let api: Api
let database: Awaited<ReturnType<typeof connectTo>>
let folder: string
let body: { sequence_id: string; target_ids: string[]; max_retries: number; variables: object }
/** Two steps. The first attempt of the first one takes longer than a lease lasts without heartbeat. */
let long: typeof body

beforeAll(async () => {
  rabbit = await startTcpProxy(serverUrl('RABBITMQ_URL'))
  suite = await startSuite({
    capacity: 3,
    secondReplicas: true,
    secondInstance: true,
    env: { RABBITMQ_URL: rabbit.url, SLIPWAY_WEBHOOK_ALLOW_PRIVATE: 'true' },
  })
  database = await connectTo(suite.databaseUrl)
  api = await loginToSuite(suite)
  folder = fs.mkdtempSync(path.join(suite.folder, 'markers-'))
  const target_ids = await createLocalTargets(api, 1)
  const common = { target_ids, max_retries: RETRIES, variables: { folder } }
  const [one, two] = [
    await createAction(api, { script: marked('sleep 0.4') }),
    await createAction(api, { script: marked('sleep 0.2') }),
  ]
  const slow = await createAction(api, { script: marked('[ "$SLIPWAY_ATTEMPT" -gt 0 ] || sleep 40') })
  body = { ...common, sequence_id: await createSequence(api, [one, two]) }
  long = { ...common, sequence_id: await createSequence(api, [slow, one]) }
})

afterEach(() => suite.restore())

afterAll(async () => {
  await database?.end()
  await suite?.stop()
  await rabbit?.close()
})

/** A command that notes its start and end, and whether another attempt of its step is alive. */
const marked = (work: string) =>
  [
    `step="$SLIPWAY_DEPLOYMENT_ID/$SLIPWAY_STEP"`,
    `note() { echo "$1 $step $SLIPWAY_ATTEMPT" >> "$SLIPWAY_VAR_FOLDER/markers"; }`,
    // All processes of the command inherit the lock, so it is free only after all of them have ended.
    `exec 9>> "$SLIPWAY_VAR_FOLDER/$SLIPWAY_DEPLOYMENT_ID-$SLIPWAY_STEP"`,
    `flock -n 9 || note overlap`,
    `note start`,
    work,
    `note end`,
  ].join('\n')

interface Marker {
  what: 'start' | 'end' | 'overlap'
  deployment: string
  step: string
  attempt: number
}

const markers = (): Marker[] =>
  fs
    .readFileSync(path.join(folder, 'markers'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => {
      const [what, place = '', attempt] = line.split(' ')
      const [deployment = '', step = ''] = place.split('/')
      return { what: what as Marker['what'], deployment, step, attempt: Number(attempt) }
    })

/** The ids in the answers 201 and 202 of all tests. */
const accepted = new Set<string>()
/** The accepted ids with a successful cancel. */
const cancelled = new Set<string>()

interface Load {
  /** All answers that no client may get. */
  wrong: string[]
  stop(): Promise<void>
}

/** Starts three clients that create more deployments than there are slots, and cancel every fourth one. */
function startLoad(): Load {
  const load: Load = { wrong: [], stop: async () => {} }
  let going = true
  const isExpected = (status: number, known: number[], what: unknown) => {
    if (status !== 503 && !known.includes(status)) load.wrong.push(`${status} ${JSON.stringify(what)}`)
    return known.includes(status)
  }
  const cancel = async (id: string, started: boolean) => {
    await sleep(Math.random() * 1_500)
    const { status, body: answer } = started
      ? await api.post(`/deployments/${id}/cancel`)
      : await api.call('DELETE', `/deployments/pending/${id}`)
    // 409: the deployment has ended, or the request was dispatched.
    if (isExpected(status, [200, 204, 409], answer) && status !== 409) cancelled.add(id)
  }
  const client = async () => {
    const cancels: Promise<void>[] = []
    for (let n = 0; going; n += 1) {
      const { status, body: answer } = await api.post('/deployments', body)
      if (!isExpected(status, [201, 202], answer)) {
        await sleep(200)
        continue
      }
      const started = status === 201
      const id: string = started ? answer.deployment_id : answer.pending_request_id
      accepted.add(id)
      if (n % 4 === 3) cancels.push(cancel(id, started))
      await sleep(started ? 300 : 1_200)
    }
    await Promise.all(cancels)
  }
  const clients = Promise.all([client(), client(), client()])
  load.stop = async () => {
    going = false
    await clients
  }
  return load
}

/** Creates deployments that occupy their slots for some time, at any speed of the machine. */
async function startLong(count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    const { status, body: answer } = await createWithRetries(api, long)
    expect([201, 202]).toContain(status)
    accepted.add(answer.deployment_id ?? answer.pending_request_id)
  }
}

const numbers = async (sql: string) =>
  (await database.query<{ n: number }>(`SELECT (${sql})::int AS n`)).rows[0]?.n ?? 0

const unfinished = () =>
  numbers(`SELECT (SELECT count(*) FROM deployments WHERE completed_at IS NULL)
                + (SELECT count(*) FROM pending_requests WHERE status IN ('pending', 'processing'))`)

/** Expects that all deployments ended as clients were told, and no command ran twice or beside itself. */
async function expectWhole(load: Load): Promise<void> {
  await waitFor(async () => (await unfinished()) === 0, { timeoutMs: 90_000, everyMs: 250, what: 'all to end' })
  expect(load.wrong).toEqual([])

  // Exactly the deployments and requests of successful answers exist.
  const { rows: made } = await database.query<{ id: string }>(
    `SELECT id FROM deployments d WHERE NOT EXISTS (SELECT FROM pending_requests p WHERE p.deployment_id = d.id)
     UNION ALL SELECT id FROM pending_requests`,
  )
  expect(made.map(({ id }) => id).sort()).toEqual([...accepted].sort())

  const { rows: ends } = await database.query<{ id: string; state: string; error: string | null }>(
    `SELECT coalesce(p.id, d.id) AS id, coalesce(d.state::text, p.status::text) AS state, d.error_message AS error
       FROM deployments d FULL JOIN pending_requests p ON p.deployment_id = d.id`,
  )
  expect(ends.filter(({ id, state }) => state !== (cancelled.has(id) ? 'cancelled' : 'success'))).toEqual([])

  const written = markers()
  expect(written.filter(({ what }) => what === 'overlap')).toEqual([])
  const starts = written.filter(({ what }) => what === 'start')
  const tries = starts.map(({ deployment, step, attempt }) => `${deployment}/${step}/${attempt}`)
  expect(tries.filter((one, index) => tries.indexOf(one) !== index)).toEqual([])
  const { rows: steps } = await database.query<{ place: string; retry_count: number; state: string }>(
    `SELECT s.deployment_id || '/' || a.action_name AS place, s.retry_count, s.state
       FROM steps s JOIN deployment_actions a USING (deployment_id, action_index)
       JOIN deployments d ON d.id = s.deployment_id WHERE d.state = 'success'`,
  )
  const count = (what: Marker['what']) => {
    const counted = new Map<string, number>()
    for (const marker of written) {
      const place = `${marker.deployment}/${marker.step}`
      if (marker.what === what) counted.set(place, (counted.get(place) ?? 0) + 1)
    }
    return (place: string) => counted.get(place) ?? 0
  }
  const [started, ended] = [count('start'), count('end')]
  expect(steps.length).toBeGreaterThan(0)
  expect(steps.filter(({ place, retry_count }) => started(place) > retry_count + 1)).toEqual([])
  expect(steps.filter(({ place }) => ended(place) === 0)).toEqual([])

  expect(await violatedInvariants(suite.databaseUrl)).toEqual([])
  await waitForValue(
    'empty queues',
    async () => {
      const metrics = await suite.metricsOf('dispatcher')
      return QUEUES.filter((queue) => metrics.value('slipway_queue_messages', { queue }) !== 0)
    },
    (filled) => filled.length === 0,
  )
}

const QUEUES = ['planner.commands', 'dispatcher.commands', 'executor.commands', 'dispatcher.events', 'dead-letters']

const stopped = new Set<ServiceName>()
function stop(name: ServiceName): void {
  process.kill(suite.pid(name), 'SIGSTOP')
  stopped.add(name)
}
function goOn(name: ServiceName): void {
  process.kill(suite.pid(name), 'SIGCONT')
  stopped.delete(name)
}

const lostLeases = () => numbers(`SELECT count(*) FROM leases WHERE end_reason = 'lost'`)

async function leaseOf(instance: string): Promise<boolean> {
  const { rows } = await database.query(
    `SELECT FROM leases l JOIN instances i ON i.id = l.instance_id WHERE i.name = $1 AND l.ended_at IS NULL
        AND l.deployment_id IN (SELECT deployment_id FROM steps WHERE state = 'running')`,
    [instance],
  )
  return rows.length > 1
}

test('all deployments end and no command runs twice, although each replica is killed or paused in turn', async () => {
  const load = startLoad()
  try {
    await startLong(2)
    await waitFor(() => leaseOf('two'), { what: 'runs on the second instance' })
    stop('orchestration-instance-2')
    for (const name of ['dispatcher', 'executor-bridge-2', 'planner', 'dispatcher-2', 'executor-bridge'] as const) {
      await suite.kill(name)
      await sleep(500)
      await suite.start(name)
    }
    for (const name of ['dispatcher', 'executor-bridge'] as const) {
      stop(name)
      await sleep(4_000)
      goOn(name)
    }
    await waitFor(async () => (await lostLeases()) > 0, { what: 'the second instance to be lost' })
    await suite.kill('orchestration-instance')
    await suite.start('orchestration-instance')
    await sleep(1_000)
    goOn('orchestration-instance-2')
    await sleep(3_000)
  } finally {
    for (const name of stopped) goOn(name)
    await load.stop()
  }
  expect(accepted.size).toBeGreaterThan(20)
  expect(cancelled.size).toBeGreaterThan(0)
  await expectWhole(load)
}, 300_000)

test('all accepted deployments end once and reach the webhook, although RabbitMQ loses everything twice', async () => {
  const ids = async () => (await database.query<{ id: string }>('SELECT id FROM deployments')).rows.map(({ id }) => id)
  const earlier = new Set(await ids())
  const receiver = await startReceiver()
  const webhook = await api.post('/webhooks', { url: receiver.url, events: ['deployment.finished'] })
  expect(webhook.status).toBe(201)
  const load = startLoad()
  for (const _ of [1, 2]) {
    await startLong(6)
    await waitFor(async () => (await unfinished()) > 6, { what: 'requests to wait' })
    rabbit.refuse(true)
    await wipeBroker(suite.namespace)
    rabbit.refuse(false)
    const before = accepted.size
    await waitFor(() => accepted.size > before + 3, { what: 'creates to be accepted again' })
  }
  await load.stop()
  await expectWhole(load)
  await waitForValue(
    'deployments of whose end no webhook was told',
    async () => {
      const told = new Set(receiver.received.map(({ event }) => event.data['id']))
      return (await ids()).filter((id) => !earlier.has(id) && !told.has(id))
    },
    (untold) => untold.length === 0,
  )
  await receiver.close()
})
