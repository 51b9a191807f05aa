import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { type Broker, BrokerUnavailable, connectBroker, type Delivery, RequestTimeout } from '@slipway/broker'
import { type CommandBody, compile, type Envelope, Preview, type ReplyEnvelope } from '@slipway/contracts'
import { frozen, lineId, missingRecords, stepId, toErrorBody } from '@slipway/domain'
import { uuidv7 } from '@slipway/runtime'
import { serverUrl } from '@slipway/testing'
import { command } from '../src/deployments/command.ts'
import { createGateway } from '../src/gateway.ts'
import { addDeployment, addPending } from './deployment-rows.ts'
import { type Client, clientOf, logger, refusal, refused, startGateway, type TestGateway, UNKNOWN_ID } from './setup.ts'

type Answer = ReplyEnvelope | 'silence'

let gateway: TestGateway
let admin: Client
/** Stands where planner and dispatcher stand, at the real broker. */
let services: Broker
let answer: (message: Envelope) => Promise<Answer> | Answer
let commands: Envelope[] = []

beforeAll(async () => {
  gateway = await startGateway()
  admin = clientOf(gateway, gateway.adminToken)
  services = await connectBroker({
    url: serverUrl('RABBITMQ_URL'),
    namespace: gateway.namespace,
    name: 'other services',
    logger,
    onFatal: () => {},
  })
  const handle = async (message: Envelope, delivery: Delivery) => {
    commands.push(message)
    const reply = await answer(message)
    if (reply !== 'silence') services.reply(delivery.replyTo, delivery.correlationId, reply)
  }
  await services.consume('planner.commands', { prefetch: 5, handle })
  await services.consume('dispatcher.commands', { prefetch: 5, handle })
})
beforeEach(() => {
  commands = []
  answer = () => {
    throw new Error('no command was expected')
  }
})
afterAll(async () => {
  await services.close()
  await gateway.close()
})

const create = (more: object = {}) =>
  admin.send('createDeployment', '/deployments', { action_id: UNKNOWN_ID, target_ids: [UNKNOWN_ID], ...more })
const commandId = ({ body }: Envelope) => (body as { command_id: string }).command_id
const refuse = (problem: Parameters<typeof toErrorBody>[0]): Answer => {
  const { code, message, details } = toErrorBody(problem).error
  return { ok: false, problem: { code, message, ...(details === undefined ? {} : { details }) } }
}

describe('create', () => {
  const start = async (message: Envelope, state = 'running'): Promise<Answer> => {
    const deployment_id = await addDeployment(gateway.database, { id: commandId(message), state })
    return { ok: true, result: { outcome: 'started', deployment_id } }
  }

  test('started: 201 with the deployment as it started, even when it has ended by then', async () => {
    answer = (message) => start(message, 'success')
    const response = await create()
    expect(response.status).toBe(201)
    const { deployment_id, pending, deployment } = response.body
    expect({ pending, id: deployment.id }).toEqual({ pending: false, id: deployment_id })
    expect(deployment).toMatchObject({ state: 'running', progress: 0, completed_at: null, duration_ms: null })
    expect(deployment.started_at).not.toBeNull()
    expect(deployment.plan.steps).toHaveLength(4)
    expect(new Set(deployment.plan.steps.map(({ state }: { state: string }) => state))).toEqual(new Set(['pending']))
    expect(deployment).not.toHaveProperty('source_deployment_id')
  })

  test('the command carries who asks, a deadline and the request id, and its values sealed', async () => {
    answer = (message) => start(message)
    await create({ variables: { token: 'planted-secret' }, prompted_values: { level: 3 }, priority: 7 })
    const [message] = commands as [Envelope<CommandBody<'plan.create'>>]
    expect(message.type).toBe('plan.create')
    expect(message.body.caller).toMatchObject({ username: 'admin', tenant_id: null, roles: ['admin'], ip: '127.0.0.1' })
    expect(message.body.request).toEqual({ action_id: UNKNOWN_ID, target_ids: [UNKNOWN_ID], priority: 7 })
    expect(JSON.stringify(message)).not.toContain('planted-secret')
    const opened = gateway.dependencies.keys.openText(
      message.body.sealed_values ?? '',
      `command:${message.body.command_id}`,
    )
    expect(JSON.parse(opened)).toEqual({ variables: { token: 'planted-secret' }, prompted_values: { level: 3 } })
    expect(Date.parse(message.deadline ?? '')).toBeGreaterThan(Date.parse(message.timestamp))
    expect(message.request_id).toMatch(/^[0-9a-f-]{36}$/)
  })

  test('queued: 202', async () => {
    answer = (message) => ({
      ok: true,
      result: { outcome: 'queued', pending_request_id: commandId(message), message: 'waits' },
    })
    const response = await create()
    expect(response.status).toBe(202)
    expect(response.body).toEqual({
      pending_request_id: commandId(commands[0] as Envelope),
      pending: true,
      message: 'waits',
    })
  })

  test('a refusal is answered as whoever refused it said', async () => {
    const freezes = [{ id: UNKNOWN_ID, name: 'Xmas', ends_at: '2026-12-27T00:00:00.000Z' }]
    answer = () => refuse(frozen(freezes, true))
    expect(refusal(await create())).toEqual(
      refused(409, 'DEPLOYMENT_FROZEN', { active_freezes: freezes, can_override: true }),
    )
    const missing = [{ path: '/target_ids/0', id: UNKNOWN_ID }]
    answer = () => refuse(missingRecords(missing))
    expect(refusal(await create())).toEqual(refused(404, 'NOT_FOUND', { missing }))
  })

  test('dry_run asks for a preview and multiplies its targets by its actions', async () => {
    const preview = {
      plan: {
        target_count: 1,
        targets: [{ id: UNKNOWN_ID, name: 'a "quoted" target' }],
        actions: [0, 1].map((action_order) => ({
          sequence_id: UNKNOWN_ID,
          sequence_name: 's',
          sequence_order: 0,
          action_id: UNKNOWN_ID,
          action_name: 'a',
          action_order,
        })),
        resolved_variables: {},
        tenant_name: null,
        environment_name: null,
        created_at: '2026-01-01T00:00:00.000Z',
      },
      warnings: ['careful'],
      target_summary: { total: 1, online: 1, offline: 0, stale: 0 },
      variables: {},
      source_type: 'action',
      source_name: 'a',
      source_version: '1.0.0',
      plan_hash: `p1.test.${'0'.repeat(12)}`,
    }
    answer = () => ({ ok: true, result: preview })
    const dry = await create({ dry_run: true })
    const response = await admin.send('previewDeployment', '/deployments/preview', {
      action_id: UNKNOWN_ID,
      target_ids: [UNKNOWN_ID],
    })
    expect([dry.status, response.status]).toEqual([200, 200])
    const {
      plan: { targets: _targets, actions, ...plan },
      ...rest
    } = preview
    for (const [index, { body }] of [dry, response].entries()) {
      expect(compile(Preview)(body)).toEqual([])
      const id = commandId(commands[index] as Envelope)
      const steps = actions.map((action) => ({
        id: stepId(id, 0, action.action_order),
        target_id: UNKNOWN_ID,
        target_name: 'a "quoted" target',
        ...action,
        state: 'pending',
        started_at: null,
        completed_at: null,
        exit_code: null,
        error_message: null,
        retry_count: 0,
        duration_ms: null,
      }))
      expect(body).toEqual({ ...rest, plan: { ...plan, steps } })
    }
    expect(commands.map(({ type }) => type)).toEqual(['plan.preview', 'plan.preview'])
  })

  test('an answer that is lost is looked up: what took effect is told', async () => {
    answer = async (message) => {
      await start(message)
      return 'silence' as const
    }
    const response = await create()
    expect(response.status).toBe(201)
    expect(response.body.deployment_id).toBe(commandId(commands[0] as Envelope))
  })

  test('no answer and no effect is 503', async () => {
    answer = () => 'silence'
    expect(refusal(await create())).toEqual(refused(503, 'SERVICE_UNAVAILABLE'))
  })

  test('without a broker it is 503 at once', async () => {
    const request = async () => {
      throw new BrokerUnavailable('the connection is down', { mayHaveBeenSent: false })
    }
    const { app } = createGateway({ ...gateway.dependencies, broker: { request } })
    const response = await clientOf({ app }, gateway.adminToken).send('createDeployment', '/deployments', {
      action_id: UNKNOWN_ID,
      target_ids: [UNKNOWN_ID],
    })
    expect(refusal(response)).toEqual(refused(503, 'SERVICE_UNAVAILABLE'))
  })
})

describe('a command without an answer', () => {
  const failing = (error: Error) => ({
    request: async () => {
      throw error
    },
  })
  type Found = { pending_request_id: string } | null
  const cancel = (error: Error, lookUp?: () => Promise<Found>, forbid: () => Promise<boolean> = async () => true) =>
    command(
      failing(error),
      'pending.cancel',
      {
        pending_request_id: UNKNOWN_ID,
        caller: { user_id: UNKNOWN_ID, username: 'u', tenant_id: null, roles: [], ip: '127.0.0.1' },
      },
      { requestId: 'r', ...(lookUp === undefined ? {} : { effect: { lookUp, forbid } }) },
    )

  test.each([
    ['timed out', new RequestTimeout('late')],
    ['lost its connection', new BrokerUnavailable('lost', { mayHaveBeenSent: true })],
  ])('that %s is looked for until it shows', async (_, error) => {
    let looks = 0
    const found = await cancel(error, async () => (++looks < 3 ? null : { pending_request_id: UNKNOWN_ID }))
    expect({ found, looks }).toEqual({ found: { pending_request_id: UNKNOWN_ID }, looks: 3 })
  })

  test('that never was sent is not looked for', async () => {
    const lookUp = async () => {
      throw new Error('looked')
    }
    await expect(cancel(new BrokerUnavailable('down', { mayHaveBeenSent: false }), lookUp)).rejects.toThrow('down')
  })

  test('that has no effect to look for is refused', async () => {
    await expect(cancel(new RequestTimeout('late'))).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
  })

  test('is refused only once it can have no effect any more', async () => {
    const late = cancel(
      new RequestTimeout('late'),
      async () => null,
      async () => true,
    )
    const refusedLate = expect(late).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })

    let forbidden = false
    const forbid = async () => {
      forbidden = true
      return false
    }
    const found = cancel(
      new RequestTimeout('late'),
      async () => (forbidden ? { pending_request_id: UNKNOWN_ID } : null),
      forbid,
    )
    expect(await found).toEqual({ pending_request_id: UNKNOWN_ID })
    await refusedLate
  })
})

describe('redeploy', () => {
  test('201 with the bare detail: no plan, and the original named', async () => {
    const original = await addDeployment(gateway.database, { state: 'failed' })
    answer = async (message) => {
      const deployment_id = await addDeployment(gateway.database, {
        id: commandId(message),
        source_deployment_id: original,
      })
      return { ok: true, result: { outcome: 'started', deployment_id } }
    }
    const response = await admin.send('redeployDeployment', `/deployments/${original}/redeploy`)
    expect(response.status).toBe(201)
    expect(response.body).toMatchObject({
      source_deployment_id: original,
      plan: null,
      state: 'running',
      error_message: null,
    })
    expect(commands[0]).toMatchObject({
      type: 'plan.redeploy',
      body: { deployment_id: original, request: {}, sealed_values: null },
    })
  })

  test('of what does not exist is 404, and asks nobody', async () => {
    const response = await admin.send('redeployDeployment', `/deployments/${UNKNOWN_ID}/redeploy`, {})
    expect(refusal(response)).toEqual(refused(404, 'NOT_FOUND'))
    expect(commands).toEqual([])
  })
})

describe('cancel', () => {
  test('answers the cancelled deployment without its plan; the reason travels', async () => {
    const id = await addDeployment(gateway.database)
    answer = async () => {
      await gateway.database.query(`UPDATE deployments SET state = 'cancelled', completed_at = now() WHERE id = $1`, [
        id,
      ])
      return { ok: true, result: { deployment_id: id } }
    }
    const response = await admin.send('cancelDeployment', `/deployments/${id}/cancel`, { reason: 'wrong window' })
    expect(response.status).toBe(200)
    expect(response.body).toMatchObject({ id, state: 'cancelled', plan: null, progress: 1 })
    expect(commands[0]).toMatchObject({
      type: 'deployment.cancel',
      body: { deployment_id: id, reason: 'wrong window' },
    })
  })

  test('a pending request: 200 with no body; ended ones and unknown ones are refused', async () => {
    const id = await addPending(gateway.database)
    answer = () => ({ ok: true, result: { pending_request_id: id } })
    const response = await admin.send('cancelPending', `/deployments/pending/${id}`)
    expect([response.status, response.text]).toEqual([200, ''])
    answer = () => ({ ok: false, problem: { code: 'CONFLICT', message: 'already dispatched' } })
    expect(refusal(await admin.send('cancelPending', `/deployments/pending/${id}`))).toEqual(refused(409, 'CONFLICT'))
    for (const unknown of [UNKNOWN_ID, 'nonsense']) {
      const gone = await admin.send('cancelPending', `/deployments/pending/${unknown}`)
      expect(refusal(gone)).toEqual(refused(404, 'NOT_FOUND'))
    }
  })

  test('the priority of a pending request: answered as it then stands in the queue', async () => {
    await gateway.database.query('DELETE FROM pending_requests')
    await addPending(gateway.database, { priority: 5 })
    const id = await addPending(gateway.database)
    answer = async () => {
      await gateway.database.query('UPDATE pending_requests SET priority = 6 WHERE id = $1', [id])
      return { ok: true, result: { pending_request_id: id } }
    }
    const path = `/deployments/pending/${id}`
    const response = await admin.send('updatePending', path, { priority: 6 })
    expect(response.status).toBe(200)
    expect(response.body).toMatchObject({ id, priority: 6, position: 1, status: 'pending' })
    expect(commands.at(-1)).toMatchObject({ type: 'pending.update', body: { pending_request_id: id, priority: 6 } })
    for (const priority of [101, -101, 1.5, '1', null]) {
      const invalid = await admin.send('updatePending', path, { priority })
      expect(refusal(invalid)).toMatchObject(refused(400, 'VALIDATION_ERROR'))
    }
    expect(refusal(await admin.send('updatePending', path, {}))).toMatchObject(refused(400, 'MISSING_FIELD'))
    answer = () => ({ ok: false, problem: { code: 'CONFLICT', message: 'dispatched already' } })
    expect(refusal(await admin.send('updatePending', path, { priority: 1 }))).toEqual(refused(409, 'CONFLICT'))
  })
})

describe('reading', () => {
  test('a detail has its plan, its configuration and no secret', async () => {
    const id = await addDeployment(gateway.database, { targets: 2, actions: 3 })
    await gateway.database.query(
      `UPDATE steps SET state = 'completed', exit_code = 0, started_at = now(), completed_at = now() + interval '250 ms'
       WHERE deployment_id = $1 AND target_index = 0`,
      [id],
    )
    await gateway.database.query(
      'INSERT INTO run_progress (deployment_id, epoch, ended_steps, completed_steps) VALUES ($1, 1, 3, 3)',
      [id],
    )
    const { body } = await admin.send('getDeployment', `/deployments/${id}`)
    expect(body).toMatchObject({
      id,
      progress: 0.5,
      total_steps: 6,
      completed_steps: 3,
      failed_steps: 0,
      duration_ms: null,
    })
    expect(body).toMatchObject({
      source_type: 'action',
      action_name: 'Release',
      action_version: '1.2.0',
      solution_id: null,
    })
    expect(body.config).toEqual({
      target_mode: { rolling: { batch_size: 1 } },
      failure_strategy: 'stop_on_first_failure',
      rollback_strategy: 'none',
      priority: 5,
      timeout_seconds: 60,
      max_retries: 1,
      target_ids: [],
      target_tags: [{ key: 'role', value: 'web' }],
      variables: { token: '***', level: 3 },
      tenant_id: null,
      environment_id: null,
    })
    expect(body.plan.resolved_variables).toEqual({ index: 2, region: 'eu', token: '***', level: 3 })
    expect(body.plan.target_count).toBe(2)
    const places = body.plan.steps.map((step: { id: string }) => step.id)
    expect(places).toEqual([0, 1].flatMap((target) => [0, 1, 2].map((action) => stepId(id, target, action))))
    expect(body.plan.steps[0]).toMatchObject({
      state: 'completed',
      exit_code: 0,
      duration_ms: 250,
      target_name: 'target-0',
    })
    expect(body.plan.steps[5]).toMatchObject({ state: 'pending', started_at: null, action_order: 2 })
  })

  test('a plan of many steps comes whole, in pieces', async () => {
    const id = await addDeployment(gateway.database, { targets: 1_500, actions: 10 })
    const { body } = await admin.send('getDeployment', `/deployments/${id}`)
    const ids = body.plan.steps.map((step: { id: string }) => step.id)
    expect(ids).toHaveLength(15_000)
    expect(ids[14_999]).toBe(stepId(id, 1_499, 9))
    expect(new Set(ids).size).toBe(15_000)
  })

  test('an ended deployment has progress 1 and its exact duration', async () => {
    const id = await addDeployment(gateway.database, { state: 'failed' })
    const { body } = await admin.send('getDeployment', `/deployments/${id}`)
    expect(body).toMatchObject({ progress: 1, duration_ms: 1_500 })
    expect(Date.parse(body.completed_at) - Date.parse(body.started_at)).toBe(1_500)
  })

  test('lists are newest first, and filters reduce the total', async () => {
    const { database } = gateway
    const older = await addDeployment(database, {
      source_name: 'Filtered one',
      source_type: 'solution',
      state: 'success',
    })
    const newer = await addDeployment(database, { source_name: 'Filtered two' })
    const list = async (query: string) => {
      const { body } = await admin.send('listDeployments', `/deployments?search=filtered&${query}`)
      expect(body.meta.total).toBe(body.data.length)
      return body.data.map(({ id }: { id: string }) => id)
    }
    expect(await list('limit=10')).toEqual([newer, older])
    expect(await list('state=success')).toEqual([older])
    expect(await list('source_type=action')).toEqual([newer])
    expect(await list(`tenant_id=${UNKNOWN_ID}`)).toEqual([])
    const byState = await admin.send('listDeployments', '/deployments?search=SUCC')
    expect(byState.body.data.map(({ id }: { id: string }) => id)).toContain(older)
    const wrong = await admin.send('listDeployments', '/deployments?state=done')
    expect(refusal(wrong)).toMatchObject(refused(400, 'VALIDATION_ERROR', { errors: [{ path: 'query/state' }] }))
  })

  test('pending requests stand by position; ended ones only when asked for', async () => {
    await gateway.database.query('DELETE FROM pending_requests')
    const [low, high, later] = [
      await addPending(gateway.database, { priority: 0 }),
      await addPending(gateway.database, { priority: 9 }),
      await addPending(gateway.database, { priority: 9 }),
    ]
    const processing = await addPending(gateway.database, { status: 'processing' })
    const cancelled = await addPending(gateway.database, { status: 'cancelled' })
    const list = async (query = '') => {
      const { body } = await admin.send('listPending', `/deployments/pending${query}`)
      return body.map(({ id, position }: { id: string; position?: number }) => [id, position])
    }
    expect(await list()).toEqual([
      [high, 1],
      [later, 2],
      [low, 3],
      [processing, undefined],
    ])
    expect(await list('?status=cancelled')).toEqual([[cancelled, undefined]])
    const { body } = await admin.send('listPending', '/deployments/pending?status=pending')
    expect(Object.keys(body[0]).sort()).toEqual(
      [
        ...['id', 'triggered_by', 'queued_at', 'created_at', 'retry_count', 'status', 'priority', 'position'],
        ...['waiting_for', 'waiting_reason'],
      ].sort(),
    )
    expect(body[0].queued_at).toMatch(/^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/)
  })

  test('a pending request that freezes hold back says which and until when; one that overrides them does not wait', async () => {
    const { database } = gateway
    await database.query('DELETE FROM pending_requests')
    const solution = uuidv7()
    const command = (roles: string[], reason: string | null) => ({
      plan: { source: { type: 'solution', id: solution } },
      caller: { roles, tenant_id: null },
      freeze_override: reason === null ? null : { reason },
    })
    const [held, other, overriding, forbidden] = [
      await addPending(database, { command: command(['operator'], null) }),
      await addPending(database, {
        command: { ...command(['operator'], null), plan: { source: { type: 'action', id: solution } } },
      }),
      await addPending(database, { command: command(['admin'], 'urgent') }),
      await addPending(database, { command: command(['operator'], 'urgent') }),
    ]
    const freeze = uuidv7()
    await database.query(
      `INSERT INTO sources (id, kind, name, updated_at) VALUES ($1, 'solution', 'held back', now())`,
      [solution],
    )
    await database.query(
      `INSERT INTO freezes (id, name, start_time, end_time, solution_id, updated_at)
       VALUES ($1, 'Year end', now() - interval '1 hour', '2099-01-01T00:00:00Z', $2, now())`,
      [freeze, solution],
    )
    try {
      const { body } = await admin.send('listPending', '/deployments/pending')
      const waiting = body.map(({ id, waiting_for, waiting_reason }: Record<string, string>) => [
        id,
        waiting_for,
        waiting_reason,
      ])
      const reason = 'Held back by freeze "Year end" until 2099-01-01T00:00:00.000Z'
      expect(waiting).toEqual([
        [held, 'freeze', reason],
        [other, 'no_compatible_instance', expect.any(String)],
        [overriding, 'no_compatible_instance', expect.any(String)],
        [forbidden, 'freeze', reason],
      ])
    } finally {
      await database.query('DELETE FROM freezes WHERE id = $1', [freeze])
    }
    const { body } = await admin.send('listPending', '/deployments/pending')
    expect(body.map(({ waiting_for }: Record<string, string>) => waiting_for)).toEqual(
      Array(4).fill('no_compatible_instance'),
    )
  })

  describe('what a pending request waits for', () => {
    const query = (sql: string, values: unknown[] = []) => gateway.database.query(sql, values)
    const clear = async () => {
      await query('TRUNCATE leases, instance_slots, instances CASCADE')
      await query('DELETE FROM pending_requests')
      await query('UPDATE queue_settings SET tenant_running_limit = NULL')
    }
    beforeEach(clear)
    afterAll(clear)

    async function addInstance(capacity: number, version = '0.1.0', draining = false, heartbeat = 'now()') {
      const id = uuidv7()
      await query(
        `INSERT INTO instances (id, name, version, base_url, capacity, credential_hash, callback_token_sealed, draining,
           last_heartbeat_at) VALUES ($1, $1::uuid::text, $2, '', $3, '', '', $4, ${heartbeat})`,
        [id, version, capacity, draining],
      )
      await query('INSERT INTO instance_slots SELECT $1, generate_series(0, $2 - 1)', [id, capacity])
      return id
    }
    /** Leases of the first slots of an instance; ended ones held theirs for a minute. */
    const lease = (instance: string, slots: number, ended = false) =>
      query(
        `INSERT INTO leases (instance_id, slot, deployment_id, acquired_at, ended_at, end_reason)
         SELECT $1, slot, gen_random_uuid(), now() - interval '60 seconds', CASE WHEN $3 THEN now() END,
                CASE WHEN $3 THEN 'finished' END FROM generate_series(0, $2 - 1) slot`,
        [instance, slots, ended],
      )
    async function waiting(): Promise<Record<string, string>[]> {
      const { body } = await admin.send('listPending', '/deployments/pending')
      return body
    }
    const reasons = async () => (await waiting()).map((item) => [item['waiting_for'], item['waiting_reason']])

    test('an instance, where there is none that could take it, with why', async () => {
      await addPending(gateway.database)
      expect(await reasons()).toEqual([
        ['no_compatible_instance', 'No orchestration instance is enrolled: start one of version 0.1'],
      ])
      await addInstance(1, '0.2.7')
      await addInstance(1, '0.1.0', true)
      await addInstance(1, '0.1.0', false, "now() - interval '31 seconds'")
      await addInstance(1, '0.1.0', false, 'NULL')
      expect(await reasons()).toEqual([
        [
          'no_compatible_instance',
          'No orchestration instance can take it: of 4 enrolled instances 2 sent no heartbeat for 30 seconds, 1 draining, ' +
            '1 of another version than 0.1',
        ],
      ])
    })

    test('capacity, with how many come first; when it may start follows from how long runs took', async () => {
      const instance = await addInstance(2)
      await lease(instance, 2)
      for (let n = 0; n < 3; n += 1) await addPending(gateway.database)
      expect(await reasons()).toEqual([
        ['capacity', 'All 2 slots of 1 orchestration instance are taken; it is next'],
        ['capacity', 'All 2 slots of 1 orchestration instance are taken; 1 request before it'],
        ['capacity', 'All 2 slots of 1 orchestration instance are taken; 2 requests before it'],
      ])
      expect((await waiting()).map((item) => item['estimated_start'])).toEqual([undefined, undefined, undefined])

      // Five runs of a minute: two slots give one a start every 30 seconds.
      for (let n = 0; n < 5; n += 1) await lease(instance, 1, true)
      const { rows } = await query('SELECT now() AS now')
      const seconds = (await waiting()).map(({ estimated_start }) =>
        Math.round((Date.parse(`${estimated_start}Z`.replace(' ', 'T')) - rows[0]?.['now'].getTime()) / 10_000),
      )
      expect(seconds).toEqual([3, 6, 9])
    })

    test('a free slot that is about to be given to it', async () => {
      await addInstance(2)
      await addPending(gateway.database)
      expect(await reasons()).toEqual([['capacity', 'About to start: 2 of 2 slots of 1 orchestration instance free']])
      await query('UPDATE pending_requests SET retry_count = 2, last_retry_at = now()')
      expect(await reasons()).toEqual([['capacity', 'Its dispatch failed and is about to be tried again']])
    })

    test('its tenant, where that runs as many as a tenant may', async () => {
      const instance = await addInstance(9)
      await lease(instance, 1)
      const tenant = uuidv7()
      await query('INSERT INTO tenants (id, name, slug) VALUES ($1, $1::uuid::text, $1::uuid::text)', [tenant])
      await addDeployment(gateway.database, { tenant_id: tenant, state: 'running' })
      await addDeployment(gateway.database, { tenant_id: tenant, state: 'success' })
      await addPending(gateway.database, { tenant_id: tenant, tenant_name: 'acme' })
      await addPending(gateway.database)
      await query('UPDATE queue_settings SET tenant_running_limit = 2')
      expect((await reasons()).map(([what]) => what)).toEqual(['capacity', 'capacity'])
      await query('UPDATE queue_settings SET tenant_running_limit = 1')
      expect(await reasons()).toEqual([
        ['tenant_limit', 'Tenant "acme" runs 1 deployment, as many as a tenant may at once (1)'],
        ['capacity', expect.stringContaining('About to start')],
      ])
    })

    test('a request that does not wait has none of it', async () => {
      await addPending(gateway.database, { status: 'processing' })
      expect(Object.keys((await waiting())[0] ?? {})).not.toContain('waiting_for')
    })

    test('many are listed whole, in order', async () => {
      await query(`INSERT INTO pending_requests (id, priority, command)
                   SELECT gen_random_uuid(), n % 7, '{}' FROM generate_series(1, 3000) n`)
      const items = await waiting()
      expect(items.map(({ position }) => position)).toEqual(Array.from({ length: 3000 }, (_, index) => index + 1))
      const priorities = items.map(({ priority }) => Number(priority))
      expect(priorities).toEqual([...priorities].sort((a, b) => b - a))
    })
  })
})

describe('history', () => {
  const line = (number: number) => ({
    t: 1_700_000_000_000 + number,
    ...(number % 10 === 9 ? { i: null, a: null, s: 's' } : { i: number % 2, a: 0, s: number % 3 === 0 ? 'e' : 'o' }),
    l: 'info',
    m: `line ${number}`,
  })
  let id: string
  beforeAll(async () => {
    id = await addDeployment(gateway.database)
    // Chunks of unequal size: 0-6, 7-13, … 1498-1504.
    for (let first = 0; first < 1_505; first += 7) {
      const lines = Array.from({ length: 7 }, (_, index) => line(first + index))
      await gateway.database.query(
        'INSERT INTO log_chunks (deployment_id, first_line, line_count, lines) VALUES ($1, $2, 7, $3)',
        [id, first, JSON.stringify(lines)],
      )
    }
  })
  const numbers = async (query: string) => {
    const { body } = await admin.send('listDeploymentLogs', `/deployments/${id}/logs/history${query}`)
    return body.map(({ metadata }: { metadata: { seq: number } }) => metadata.seq) as number[]
  }
  const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index)

  test('lines come by number, from any offset, within the limits', async () => {
    expect(await numbers('')).toEqual(range(0, 100))
    expect(await numbers('?offset=5&limit=4')).toEqual(range(5, 9))
    expect(await numbers('?offset=700&limit=1')).toEqual([700])
    expect(await numbers('?offset=1500&limit=100')).toEqual(range(1_500, 1_505))
    expect(await numbers('?offset=5000')).toEqual([])
    expect(await numbers('?offset=999999999999999999')).toEqual([])
    expect(await numbers('?offset=-3&limit=0')).toEqual([0])
    expect(await numbers('?limit=5000')).toEqual(range(0, 1_000))
  })

  test('pages of any size put together are the whole', async () => {
    for (const limit of [1_000, 499, 64]) {
      const all: number[] = []
      for (let page: number[]; ; ) {
        page = await numbers(`?offset=${all.length}&limit=${limit}`)
        if (page.length === 0) break
        all.push(...page)
      }
      expect(all).toEqual(range(0, 1_505))
    }
  })

  test('where retention dropped the beginning, the first line that is kept is the first entry, under its own number', async () => {
    const kept = await addDeployment(gateway.database, { state: 'success' })
    await gateway.database.query(
      `INSERT INTO log_chunks (deployment_id, first_line, line_count, lines)
       SELECT $1, first_line, line_count, lines FROM log_chunks WHERE deployment_id = $2 AND first_line >= 700`,
      [kept, id],
    )
    const page = async (query: string) => {
      const { body } = await admin.send('listDeploymentLogs', `/deployments/${kept}/logs/history${query}`)
      return body.map(({ id, metadata }: { id: string; metadata: { seq: number } }) => [id, metadata.seq])
    }
    const entries = (from: number, to: number) => range(from, to).map((seq) => [lineId(kept, seq), seq])
    expect(await page('?limit=3')).toEqual(entries(700, 703))
    expect(await page('?offset=3&limit=10')).toEqual(entries(703, 713))
    expect(await page('?offset=800')).toEqual(entries(1_500, 1_505))
    expect(await page('?offset=805')).toEqual([])
  })

  test('lines of several days are one log', async () => {
    const long = await addDeployment(gateway.database)
    await gateway.database.query(`UPDATE deployments SET created_at = now() - interval '3 days' WHERE id = $1`, [long])
    await gateway.database.query(
      `INSERT INTO log_chunks (deployment_id, first_line, line_count, lines, created_at)
       SELECT $1, first_line, line_count, lines,
              now() - interval '3 days' + first_line * interval '3 days' / 1505 FROM log_chunks WHERE deployment_id = $2`,
      [long, id],
    )
    const { body } = await admin.send('listDeploymentLogs', `/deployments/${long}/logs/history?offset=600&limit=900`)
    expect(body.map(({ metadata }: { metadata: { seq: number } }) => metadata.seq)).toEqual(range(600, 1_500))
  })

  test('an entry says where its line came from', async () => {
    const { body } = await admin.send('listDeploymentLogs', `/deployments/${id}/logs/history?limit=10`)
    expect(body[3]).toMatchObject({
      id: lineId(id, 3),
      timestamp: '2023-11-14T22:13:20.003+00:00',
      level: 'info',
      event_type: 'log',
      step_id: stepId(id, 1, 0),
      target_name: 'target-1',
      message: 'line 3',
      stdout: null,
      stderr: 'line 3',
      metadata: { seq: 3 },
      analysis: null,
    })
    expect(body[1]).toMatchObject({ stdout: 'line 1', stderr: null })
    expect(body[9]).toMatchObject({ step_id: null, target_id: null, target_name: null, stdout: null, stderr: null })
  })
})

test('command results stand by start, tails cut to their last 2000 characters, what does not apply left out', async () => {
  const id = await addDeployment(gateway.database)
  await gateway.database.query(
    `INSERT INTO command_results (deployment_id, target_index, action_index, status, exit_code, stdout_tail, stderr_tail, error_message, started_at, completed_at)
     VALUES ($1, 1, 0, 'failed', NULL, '', 'no', 'killed by SIGKILL', now() + interval '1 s', now() + interval '3 s'),
            ($1, 0, 0, 'completed', 0, repeat('a', 10) || repeat('é', 2000), '', NULL, now(), now() + interval '1 s')`,
    [id],
  )
  const { body } = await admin.send('listCommandResults', `/deployments/${id}/analysis`)
  expect(body).toHaveLength(2)
  expect(body[0]).toMatchObject({
    id: stepId(id, 0, 0),
    status: 'completed',
    exit_code: 0,
    duration_ms: 1_000,
    target_name: 'target-0',
  })
  expect(body[0].stdout_tail).toBe('é'.repeat(2_000))
  expect(body[0]).not.toHaveProperty('error_message')
  expect(body[1]).toMatchObject({ status: 'failed', error_message: 'killed by SIGKILL' })
  expect(body[1]).not.toHaveProperty('exit_code')
})

describe('why commands failed', () => {
  const analysis = {
    ...{ confidence: 0.9, summary: 'The disk is full', likely_cause: 'It has no room', remediation: ['Make room'] },
    ...{ analyzed_at: '2026-01-31T09:00:02.000Z', model_version: 'rules-1' },
  }
  const addResult = (id: string, fields: { stored: object | null; error?: string; stderr?: string }) =>
    gateway.database.query(
      `INSERT INTO command_results (deployment_id, target_index, action_index, status, exit_code, stdout_tail, stderr_tail,
         error_message, analysis, started_at, completed_at)
       VALUES ($1, 0, 0, 'failed', 1, '', $3, $4, $2, '2026-01-31T09:00:00Z', '2026-01-31T09:00:02Z')`,
      [id, fields.stored && JSON.stringify(fields.stored), fields.stderr ?? '', fields.error ?? 'exit code 1'],
    )
  const results = async (id: string) => (await admin.send('listCommandResults', `/deployments/${id}/analysis`)).body
  const history = async (id: string) => (await admin.send('listDeploymentLogs', `/deployments/${id}/logs/history`)).body

  test('is shown as it is stored, without what groups failures', async () => {
    const id = await addDeployment(gateway.database)
    await addResult(id, { stored: { ...analysis, fingerprint: 'disk-full' } })
    expect((await results(id))[0].analysis).toEqual(analysis)
  })

  test('is said by the rules where nobody has looked at it, unless it is switched off', async () => {
    const id = await addDeployment(gateway.database)
    await addResult(id, { stored: null, stderr: 'cp: x: No space left on device' })
    await gateway.database.query(
      `UPDATE steps SET state = 'failed', ever_failed = true, error_message = 'the instance was lost while the command ran',
         started_at = '2026-01-31T09:00:03Z', completed_at = '2026-01-31T09:00:04Z'
        WHERE deployment_id = $1 AND target_index = 1 AND action_index = 0`,
      [id],
    )
    expect(await results(id)).toMatchObject([
      { analysis: { summary: 'The disk is full', analyzed_at: '2026-01-31T09:00:02.000Z' } },
      { analysis: { summary: expect.stringContaining('instance was lost'), analyzed_at: '2026-01-31T09:00:04.000Z' } },
    ])
    await gateway.database.query('UPDATE deployments SET analysis_enabled = false WHERE id = $1', [id])
    for (const result of await results(id)) expect(result).not.toHaveProperty('analysis')
  })

  test('stands in the entry that reports the failure, as it is known by now', async () => {
    const id = await addDeployment(gateway.database)
    const report = { t: 1_700_000_000_000, i: 0, a: 0, s: 's', l: 'error', m: 'it failed' }
    const lines = [
      { ...report, x: { exit_code: 1, fingerprint: 'disk-full', analysis } },
      { ...report, x: { exit_code: 1 } },
    ]
    await gateway.database.query(
      'INSERT INTO log_chunks (deployment_id, first_line, line_count, lines) VALUES ($1, 0, 2, $2)',
      [id, JSON.stringify(lines)],
    )
    const metadata = { exit_code: 1, fingerprint: 'disk-full', seq: 0 }
    expect(await history(id)).toMatchObject([{ analysis, metadata }, { analysis: null }])
    const newer = { ...analysis, summary: 'The volume is full', model_version: 'oracle-1' }
    await addResult(id, { stored: { ...newer, fingerprint: 'disk-full' } })
    const [first] = await history(id)
    expect([first.analysis, first.metadata]).toEqual([newer, metadata])
  })
})

test('commands that were ended with their deployment have a result too; what never ran has none', async () => {
  const id = await addDeployment(gateway.database, { state: 'cancelled' })
  await gateway.database.query(
    `UPDATE steps SET state = 'cancelled', error_message = CASE WHEN target_index = 0 THEN 'cancelled while it ran' END,
       started_at = CASE WHEN target_index = 0 THEN now() - interval '2 s' END,
       completed_at = CASE WHEN target_index = 0 THEN now() END
      WHERE deployment_id = $1 AND action_index = 0`,
    [id],
  )
  const { body } = await admin.send('listCommandResults', `/deployments/${id}/analysis`)
  expect(body).toEqual([
    {
      id: stepId(id, 0, 0),
      target_id: expect.any(String),
      target_name: 'target-0',
      action_name: 'action-0',
      status: 'cancelled',
      error_message: 'cancelled while it ran',
      started_at: expect.any(String),
      completed_at: expect.any(String),
      duration_ms: 2_000,
    },
  ])
})

test('commands whose results retention dropped are still told of, without their output', async () => {
  const id = await addDeployment(gateway.database, { state: 'failed', targets: 1, actions: 3 })
  await gateway.database.query(
    `UPDATE steps SET state = (CASE WHEN action_index = 0 THEN 'completed' WHEN action_index = 1 THEN 'failed' ELSE 'skipped' END)::step_state,
       ever_failed = action_index = 1, exit_code = CASE WHEN action_index < 2 THEN action_index * 7 END,
       error_message = CASE WHEN action_index = 1 THEN 'exit code 7' END,
       started_at = CASE WHEN action_index < 2 THEN now() + action_index * interval '1 s' END,
       completed_at = now() + interval '2 s'
      WHERE deployment_id = $1`,
    [id],
  )
  const { body } = await admin.send('listCommandResults', `/deployments/${id}/analysis`)
  expect(body).toMatchObject([
    { id: stepId(id, 0, 0), status: 'completed', exit_code: 0 },
    { id: stepId(id, 0, 1), status: 'failed', exit_code: 7, error_message: 'exit code 7' },
  ])
  for (const result of body) expect(result).not.toHaveProperty('stdout_tail')
})

test('ids that name nothing are 404 everywhere', async () => {
  for (const id of [UNKNOWN_ID, uuidv7(), 'nonsense', '%00']) {
    for (const path of ['', '/logs/history', '/analysis']) {
      const response = await admin.send('getDeployment', `/deployments/${id}${path}`)
      expect(refusal(response)).toEqual(refused(404, 'NOT_FOUND'))
    }
  }
})
