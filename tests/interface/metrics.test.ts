import fs from 'node:fs'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { parser } from '@prometheus-io/lezer-promql'
import {
  type Api,
  addLocalTargets,
  connectTo,
  createAction,
  createLocalTarget,
  createUser,
  deploymentEnd,
  dispatchedDeployment,
  loginToSuite,
  openChangeStream,
  openLogStream,
  type Receiver,
  repositoryRoot,
  SERVICES,
  type ServiceName,
  type Suite,
  startReceiver,
  startSuite,
  waitFor,
} from '@slipway/testing'
import type pg from 'pg'
import { parse } from 'yaml'

// Longer than the timeout of a wait, so that a failed wait reports what it waited for.
let suite: Suite
let api: Api
let database: pg.Client
let receiver: Receiver
let target: string

beforeAll(async () => {
  receiver = await startReceiver()
  suite = await startSuite({ capacity: 1, env: { SLIPWAY_WEBHOOK_ALLOW_PRIVATE: 'true' } })
  api = await loginToSuite(suite)
  database = await connectTo(suite.databaseUrl)
  target = await createLocalTarget(api)
})
afterAll(async () => {
  await database?.end()
  await suite?.stop()
  await receiver.close()
})

interface Rules {
  groups: {
    rules: { alert: string; expr: string; labels: { severity: string }; annotations: Record<string, string> }[]
  }[]
}

interface Dashboard {
  uid: string
  title: string
  templating: { list: { name: string }[] }
  panels: {
    id: number
    type: string
    targets?: { expr: string; datasource: { uid: string } }[]
    gridPos: { x: number; w: number }
  }[]
}

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

/** Parses a query with the grammar of Prometheus. Grafana replaces `$__rate_interval` by a duration. */
function isPromQl(query: string): boolean {
  let isGood = true
  parser.parse(query.replaceAll('$__rate_interval', '5m')).iterate({
    enter: ({ type }) => {
      if (type.isError) isGood = false
    },
  })
  return isGood
}

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
      ['planner', 'slipway_plan_duration_seconds_count', { command: 'plan.create', size: 'small' }],
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

test('slots, queue, commands and streams show one running deployment and one pending request', async () => {
  // The deployment is cancelled below. Its sleep is longer than a busy machine needs until then.
  const first = await deploy('sleep 600')
  const second = await deploy('true')
  expect(second.pending_request_id).toBeDefined()
  await becomes('orchestration-instance', 'slipway_commands_active', {}, (active) => active === 1)
  const dispatcher = await suite.metricsOf('dispatcher')
  expect({
    slots: dispatcher.value('slipway_slots'),
    leases: dispatcher.value('slipway_leases'),
    online: dispatcher.value('slipway_instances', { status: 'online' }),
    offline: dispatcher.value('slipway_instances', { status: 'offline' }),
    waiting: dispatcher.value('slipway_pending_requests'),
  }).toEqual({ slots: 1, leases: 1, online: 1, offline: 0, waiting: 1 })
  expect(dispatcher.value('slipway_pending_oldest_age_seconds')).toBeGreaterThan(0)
  const instance = await suite.metricsOf('orchestration-instance')
  expect(instance.value('slipway_runs')).toBe(1)
  expect(instance.value('slipway_run_capacity')).toBe(1)
  expect(instance.value('slipway_bridge_silence_seconds')).toBeLessThan(30)

  // Streams are counted when they are opened, while they are open, and when a logout ends them.
  const own = await createUser(suite, api, ['admin'])
  await moves(
    () => Promise.all([openLogStream(suite, own, first.deployment_id), openChangeStream(suite, own, 'deployments')]),
    [
      ['log-stream', 'slipway_streams_opened_total', { kind: 'log' }],
      ['log-stream', 'slipway_streams_opened_total', { kind: 'changes' }],
    ],
  )
  expect(await told('log-stream', 'slipway_open_streams', { kind: 'log' })).toBe(1)
  expect(await told('log-stream', 'slipway_open_streams', { kind: 'changes' })).toBe(1)
  await moves(
    () => own.post('/auth/logout'),
    [['log-stream', 'slipway_dropped_watchers_total', { reason: 'revoked' }, 2]],
  )
  await becomes('log-stream', 'slipway_open_streams', {}, (open) => open === 0)
  // The duration of a stream is not in the histogram of request durations.
  for (const service of ['gateway', 'log-stream'] as const) {
    for (const route of ['/api/v1/deployments/{id}/logs', '/api/v1/sse/{resource_type}', '/api/v1/sse/{resource}']) {
      expect(await told(service, 'slipway_http_request_duration_seconds_count', { route })).toBeUndefined()
    }
  }

  await moves(async () => {
    await api.post(`/deployments/${first.deployment_id}/cancel`, {})
    await dispatchedDeployment(api, second.pending_request_id)
  }, [
    ['dispatcher', 'slipway_deployments_ended_total', { state: 'cancelled' }],
    ['orchestration-instance', 'slipway_command_duration_seconds_count', { outcome: 'killed' }],
  ])
  await becomes('dispatcher', 'slipway_pending_requests', {}, (waiting) => waiting === 0)
  await becomes('dispatcher', 'slipway_leases', {}, (leases) => leases === 0)
  expect(await told('dispatcher', 'slipway_pending_oldest_age_seconds')).toBe(0)
})

test('the outcomes of webhook calls and the deliveries that wait for a retry are counted', async () => {
  receiver.answer = () => ({ status: 500 })
  const { body } = await api.post('/webhooks', { url: receiver.url, events: ['deployment.finished'] })
  await moves(() => run('true'), [['dispatcher', 'slipway_webhook_attempts_total', { outcome: 'again' }]])
  await becomes('dispatcher', 'slipway_webhook_deliveries_pending', {}, (pending) => pending === 1)
  await database.query(`UPDATE webhook_deliveries SET next_attempt_at = now() - interval '1 hour' WHERE claim IS NULL`)
  receiver.answer = () => ({ status: 204 })
  await becomes('dispatcher', 'slipway_webhook_attempts_total', { outcome: 'delivered' }, (count) => count === 1)
  await becomes('dispatcher', 'slipway_webhook_deliveries_pending', {}, (pending) => pending === 0)
  await api.call('DELETE', `/webhooks/${body.id}`)
})

test('due deliveries of a receiver that does not answer are overdue', async () => {
  receiver.answer = null
  // One receiver gets at most four calls at a time, so two of the six deliveries are overdue.
  const events = ['deployment.started', 'deployment.finished']
  const { body } = await api.post('/webhooks', { url: receiver.url, events })
  for (let n = 0; n < 3; n += 1) await run('true')
  await becomes('dispatcher', 'slipway_webhook_overdue_seconds', {}, (seconds) => seconds > 1)
  await api.call('DELETE', `/webhooks/${body.id}`)
  receiver.answer = () => ({ status: 204 })
  await becomes('dispatcher', 'slipway_webhook_overdue_seconds', {}, (seconds) => seconds === 0)
})

test('a large plan is counted with the size large', async () => {
  const target_ids = await addLocalTargets(database, 501)
  const action_id = await createAction(api)
  await moves(
    () => api.post('/deployments/preview', { action_id, target_ids }),
    [['planner', 'slipway_plan_duration_seconds_count', { command: 'plan.preview', size: 'large' }]],
  )
})

describe('during a fault', () => {
  afterEach(() => suite.restore())

  test('log lines of a day without partition are counted until they move into a partition', async () => {
    await becomes('executor-bridge', 'slipway_log_partition_days', {}, (days) => days === 3)
    await moves(
      () =>
        database.query(
          `INSERT INTO log_chunks (deployment_id, first_line, line_count, lines, created_at)
           VALUES (gen_random_uuid(), 0, 1, '[]', now() - interval '100 days')`,
        ),
      [['executor-bridge', 'slipway_log_default_rows']],
    )
    await database.query(`SELECT ensure_log_partition((now() - interval '100 days')::date)`)
    await becomes('executor-bridge', 'slipway_log_default_rows', {}, (rows) => rows === 0)
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

  test('without planners, command messages wait and are late, and their senders get no answer in time', async () => {
    await suite.kill('planner', 'SIGTERM')
    await becomes(
      'dispatcher',
      'slipway_queue_consumers',
      { queue: 'planner.commands' },
      (consumers) => consumers === 0,
    )
    const waiting = deploy('true')
    await becomes('dispatcher', 'slipway_queue_messages', { queue: 'planner.commands' }, (messages) => messages === 1)
    await moves(
      () => waiting,
      [
        ['gateway', 'slipway_answer_wait_seconds_count', { outcome: 'unanswered' }],
        ['gateway', 'slipway_http_request_duration_seconds_count', { route: '/api/v1/deployments', status: '503' }],
      ],
    )
    await suite.start('planner')
    await becomes('planner', 'slipway_messages_total', { outcome: 'late' }, (late) => late === 1)
    await becomes(
      'dispatcher',
      'slipway_queue_consumers',
      { queue: 'planner.commands' },
      (consumers) => consumers === 1,
    )
  })

  test('without the bridge, run events accumulate on the instance, which measures the silence', async () => {
    const [begun, end] = [path.join(suite.folder, 'begun'), path.join(suite.folder, 'end')]
    const { deployment_id } = await deploy(`touch '${begun}'; until [ -e '${end}' ]; do echo waits; sleep 0.3; done`)
    try {
      // An active command may still wait until the bridge commits its start.
      await waitFor(() => fs.existsSync(begun), { what: 'the command to begin' })
      await moves(
        () => suite.kill('executor-bridge'),
        [
          ['orchestration-instance', 'slipway_run_events_unacknowledged'],
          ['orchestration-instance', 'slipway_event_batches_sent_total', { outcome: 'failed' }],
        ],
      )
      await becomes('orchestration-instance', 'slipway_bridge_silence_seconds', {}, (silence) => silence > 5)
    } finally {
      fs.writeFileSync(end, '')
    }
    await suite.start('executor-bridge')
    await becomes('orchestration-instance', 'slipway_run_events_unacknowledged', {}, (events) => events === 0)
    expect((await deploymentEnd(api, deployment_id)).state).toBe('success')
  })

  test('a lost lease is counted when its instance is lost', async () => {
    await suite.kill('orchestration-instance')
    await deploy('true')
    await moves(
      () => database.query(`UPDATE instances SET last_heartbeat_at = now() - interval '1 minute'`),
      [['dispatcher', 'slipway_leases_lost_total']],
    )
    expect(await told('dispatcher', 'slipway_instances', { status: 'offline' })).toBe(1)
    expect(await told('dispatcher', 'slipway_slots')).toBe(0)
    await suite.start('orchestration-instance')
    await becomes('dispatcher', 'slipway_slots', {}, (slots) => slots === 1)
  })
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

describe('dashboards and alerts', () => {
  const grafana = path.join(repositoryRoot, 'deploy/grafana')
  const rules = (parse(fs.readFileSync(path.join(grafana, 'alerts.yaml'), 'utf8')) as Rules).groups.flatMap(
    (group) => group.rules,
  )
  const dashboards = fs.readdirSync(path.join(grafana, 'dashboards')).map((name) => ({
    name,
    text: fs.readFileSync(path.join(grafana, 'dashboards', name), 'utf8'),
  }))

  test('name only existing metrics, and every metric is in a dashboard or an alert', async () => {
    const all = await Promise.all(SERVICES.map((service) => suite.metricsOf(service)))
    const exist = new Set(all.flatMap(({ names }) => [...names]))
    const used = [...dashboards.map(({ text }) => text), ...rules.map(({ expr }) => expr)].flatMap((text) => [
      ...text.matchAll(/\b(?:slipway|process|nodejs)_[a-z0-9_]+/g),
    ])
    expect(used.length).toBeGreaterThan(60)
    const unknown = used.filter(([name]) => !exist.has(name) && !exist.has(name.replace(/_(bucket|count|sum)$/, '')))
    expect(unknown.map(([name]) => name)).toEqual([])
    // No metric may be missing in all dashboards and alerts.
    const shown = new Set(used.map(([name]) => name.replace(/_(bucket|count|sum)$/, '')))
    const ours = [...exist].filter((name) => name.startsWith('slipway_'))
    expect(ours.filter((name) => !shown.has(name))).toEqual([])
  })

  test('have only queries that Prometheus can parse', () => {
    const panels = dashboards.flatMap(({ text }) => (JSON.parse(text) as Dashboard).panels)
    const queries = [...rules, ...panels.flatMap(({ targets = [] }) => targets)].map(({ expr }) => expr)
    expect(queries.filter((query) => !isPromQl(query))).toEqual([])
    expect(isPromQl('sum(rate(slipway_messages_total[5m])')).toBe(false)
  })

  test('dashboards are complete: every panel has queries of the chosen Prometheus and fits into the grid', () => {
    expect(dashboards.length).toBeGreaterThan(0)
    for (const { text } of dashboards) {
      const { uid, title, panels, templating } = JSON.parse(text) as Dashboard
      expect(uid).toMatch(/^slipway-/)
      expect(title).toMatch(/^Slipway: /)
      const variables = templating.list.map(({ name }) => name)
      expect(variables).toEqual(['datasource', 'namespace', ...(uid === 'slipway-deployments' ? ['pool'] : [])])
      expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
      for (const { type, targets = [], gridPos } of panels) {
        expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24)
        if (type === 'row') continue
        expect(targets.length).toBeGreaterThan(0)
        for (const { expr, datasource } of targets) {
          expect(expr).not.toBe('')
          // Outside of Kubernetes the label is missing, and the choice "All" (`.*`) matches that too.
          const selectors = [...expr.matchAll(/\b(slipway|nodejs|process)_\w+(\{[^}]*\})?/g)].map(
            ([, , labels]) => labels,
          )
          expect(selectors.length).toBeGreaterThan(0)
          for (const labels of selectors) expect(labels).toContain('namespace=~"$namespace"')
          if (/slipway_(pending_requests|pool_slots_taken)\{/.test(expr)) expect(expr).toContain('pool=~"$pool"')
          expect(datasource.uid).toMatch(/^\$\{datasource\}$/)
        }
      }
    }
  })

  test('every alert has a severity and an entry in the runbook, and every entry has an alert', () => {
    const page = fs.readFileSync(path.join(repositoryRoot, 'docs/operations.md'), 'utf8')
    const entries = [...page.matchAll(/^### (Slipway\w+)\n\n[^#]+- \*\*Look:\*\* [^#]+- \*\*Do:\*\* /gm)].map(
      ([, name]) => name,
    )
    expect(rules.map(({ alert }) => alert)).toEqual(entries)
    for (const { alert, expr, labels, annotations } of rules) {
      expect(expr.trim()).not.toBe('')
      expect(['critical', 'warning']).toContain(labels.severity)
      expect(annotations).toEqual({
        summary: expect.any(String),
        // The address of the page is a setting (monitoring.runbooks of the chart). The anchor is that of the entry.
        runbook_url: `https://slipway.example.com/docs/operations.md#${alert.toLowerCase()}`,
      })
    }
  })
})
