import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  type Api,
  connectTo,
  createAction,
  createLocalTarget,
  deploymentEnd,
  loginToSuite,
  SERVICES,
  type ServiceName,
  type Suite,
  startSuite,
  waitFor,
} from '@slipway/testing'
import type pg from 'pg'

// The metrics of all processes together. Each service tests its own metrics in the process of the test.
let suite: Suite
let api: Api
let database: pg.Client
let target: string

beforeAll(async () => {
  suite = await startSuite({ capacity: 1 })
  api = await loginToSuite(suite)
  database = await connectTo(suite.databaseUrl)
  target = await createLocalTarget(api)
})
afterAll(async () => {
  await database?.end()
  await suite?.stop()
})

type Labels = Record<string, string>

const RELAYS: ServiceName[] = ['gateway', 'dispatcher', 'executor-bridge']
const FAILURES = 'slipway_outbox_failures_total'

const told = async (service: ServiceName, name: string, labels: Labels = {}) =>
  (await suite.metricsOf(service)).value(name, labels)

const becomes = (service: ServiceName, name: string, labels: Labels, wanted: (value: number) => boolean) =>
  waitFor(
    async () => {
      const value = await told(service, name, labels)
      return value !== undefined && wanted(value)
    },
    { everyMs: 100, what: `${service} to tell ${name} ${JSON.stringify(labels)}` },
  )

/** Waits until each metric is at least `by` higher than before `event`. Only `event` may change the metrics. */
async function moves(
  event: () => Promise<unknown>,
  expected: [service: ServiceName, name: string, labels?: Labels, by?: number][],
): Promise<void> {
  const before = await Promise.all(expected.map(([service, name, labels]) => told(service, name, labels)))
  await event()
  for (const [index, [service, name, labels = {}, by = 1]] of expected.entries()) {
    await becomes(service, name, labels, (value) => value >= (before[index] ?? 0) + by)
  }
}

async function deploy(script: string, more: object = {}) {
  const action_id = await createAction(api, { script })
  const { body } = await api.post('/deployments', { action_id, target_ids: [target], ...more })
  return body as { deployment_id: string; pending_request_id: string }
}

const run = async (script: string, more: object = {}) => deploymentEnd(api, (await deploy(script, more)).deployment_id)

test('a successful deployment increments the metrics of every service that handles it', async () => {
  await moves(
    () => run('echo one; echo two'),
    [
      [
        'gateway',
        'slipway_http_request_duration_seconds_count',
        { method: 'POST', route: '/api/v1/deployments', status: '201' },
      ],
      ['gateway', 'slipway_answer_wait_seconds_count', { command: 'plan.create', outcome: 'answered' }],
      ['planner', 'slipway_plan_duration_seconds_count', { command: 'plan.create' }],
      ['planner', 'slipway_messages_total', { queue: 'planner.commands', outcome: 'handled' }],
      ['planner', 'slipway_message_wait_seconds_count', { queue: 'planner.commands' }],
      ['dispatcher', 'slipway_deployment_requests_total', { outcome: 'started' }],
      ['dispatcher', 'slipway_deployments_ended_total', { state: 'success' }],
      ['executor-bridge', 'slipway_runs_handed_over_total', { outcome: 'sent' }],
      ['executor-bridge', 'slipway_run_events_total', {}, 5],
      ['executor-bridge', 'slipway_run_event_lag_seconds_count'],
      ['executor-bridge', 'slipway_event_batch_duration_seconds_count', { outcome: 'applied' }],
      [
        'executor-bridge',
        'slipway_http_request_duration_seconds_count',
        { method: 'POST', route: '/v1/runs/{id}/events', status: '200' },
      ],
      [
        'orchestration-instance',
        'slipway_command_duration_seconds_count',
        { transport: 'local', outcome: 'completed' },
      ],
      ['orchestration-instance', 'slipway_event_batches_sent_total', { outcome: 'accepted' }],
    ],
  )
})

test('the relays together count all messages that leave the outbox', async () => {
  const sent = async () => {
    const counts = await Promise.all(RELAYS.map((name) => told(name, 'slipway_outbox_relayed_total')))
    return counts.reduce((sum: number, count) => sum + (count ?? 0), 0)
  }
  const before = await sent()
  await run('true')
  await waitFor(async () => (await sent()) >= before + 4, { what: 'the messages of a deployment to be counted' })
})

test('failed commands, retries and refused calls have their own metrics', async () => {
  await moves(
    () => run('exit 1', { max_retries: 1 }),
    [
      ['orchestration-instance', 'slipway_command_duration_seconds_count', { outcome: 'failed' }, 2],
      ['orchestration-instance', 'slipway_command_retries_total'],
      ['dispatcher', 'slipway_deployments_ended_total', { state: 'failed' }],
    ],
  )
  await moves(
    () => deploy('true', { version_requirement: '^7.0.0' }),
    [
      ['gateway', 'slipway_answer_wait_seconds_count', { command: 'plan.create', outcome: 'refused' }],
      ['gateway', 'slipway_http_request_duration_seconds_count', { route: '/api/v1/deployments', status: '400' }],
    ],
  )
  await moves(
    () => fetch(`${suite.url}/api/v1/nowhere/at/all`),
    [['gateway', 'slipway_http_request_duration_seconds_count', { route: 'none', status: '404' }]],
  )
})

test('a message that cannot leave the outbox is counted with its age', async () => {
  await moves(
    () =>
      database.query(
        `INSERT INTO outbox (message_id, exchange, type, body, created_at)
           VALUES (gen_random_uuid(), 'events', 'nobody.knows', '{}', now() - interval '1 hour')`,
      ),
    [['dispatcher', 'slipway_outbox_messages']],
  )
  expect(await told('dispatcher', 'slipway_outbox_oldest_age_seconds')).toBeGreaterThan(3_000)
  // Any of the relays may try the message, and it fails each time.
  await waitFor(async () => (await Promise.all(RELAYS.map((name) => told(name, FAILURES)))).some(Boolean))
  await database.query(`DELETE FROM outbox WHERE type = 'nobody.knows'`)
  await becomes('dispatcher', 'slipway_outbox_messages', {}, (waiting) => waiting === 0)
  await becomes('dispatcher', 'slipway_outbox_oldest_age_seconds', {}, (age) => age < 3_000)
})

test('a poison message is counted as dead and is in the queue of dead letters', async () => {
  await moves(
    () =>
      database.query(
        `INSERT INTO outbox (message_id, exchange, type, body)
           VALUES (gen_random_uuid(), 'commands', 'plan.create', '{"command_id": "none"}')`,
      ),
    [
      ['planner', 'slipway_messages_total', { queue: 'planner.commands', outcome: 'dead' }],
      ['executor-bridge', 'slipway_queue_messages', { queue: 'dead-letters' }],
    ],
  )
})

test.each(SERVICES)(
  '%s has its build and process metrics, and no metric has a label with an id or a secret',
  async (service) => {
    const metrics = await suite.metricsOf(service)
    expect(metrics.value('slipway_build_info', { component: service })).toBe(1)
    for (const name of [
      'process_cpu_seconds_total',
      'process_resident_memory_bytes',
      'nodejs_eventloop_lag_p99_seconds',
    ]) {
      expect(metrics.value(name)).toBeGreaterThan(0)
    }
    if (service !== 'orchestration-instance') expect(metrics.value('slipway_database_connections')).toBeDefined()
    expect(metrics.value('slipway_measurements_failed_total') ?? 0).toBe(0)
    const labels = metrics.labels()
    expect(labels.filter((value) => /[0-9a-f]{8}-[0-9a-f]{4}/.test(value))).toEqual([])
    // Only the hash of the head of the audit chain may be long. It has one value at a time.
    expect(labels.filter((value) => value.length > 60 && !/^[0-9a-f]{64}$/.test(value))).toEqual([])
  },
)
