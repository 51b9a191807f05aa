import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { type Broker, BrokerUnavailable, RequestTimeout } from '@slipway/broker'
import { type CommandBody, type CommandType, compile, type Envelope, Preview } from '@slipway/contracts'
import { rankOf } from '@slipway/database'
import { conflict, frozen, missingRecords, stepId, toErrorBody } from '@slipway/domain'
import { sleep } from '@slipway/runtime'
import { addPending, waitFor } from '@slipway/testing'
import { sendCommand } from '../src/deployments/command.ts'
import { createGateway } from '../src/gateway.ts'
import { ANSWER_TIMES, boundsOf } from '../src/handler.ts'
import { addDeployment } from './deployment-rows.ts'
import { type CommandAnswer, startOtherServices } from './other-services.ts'
import {
  type Client,
  clientOf,
  impatient,
  refusal,
  refused,
  startGateway,
  type TestGateway,
  UNKNOWN_ID,
} from './setup.ts'

let gateway: TestGateway
let admin: Client
let services: Broker
let answer: (message: Envelope) => Promise<CommandAnswer> | CommandAnswer
let commands: Envelope[] = []

beforeAll(async () => {
  gateway = await startGateway()
  admin = clientOf(gateway, gateway.adminToken)
  services = await startOtherServices(gateway, (message) => {
    commands.push(message)
    return answer(message)
  })
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

const NEW = { action_id: UNKNOWN_ID, target_ids: [UNKNOWN_ID] }
const create = (more: object = {}, headers: Record<string, string> = {}) =>
  admin.send('createDeployment', '/deployments', { ...NEW, ...more }, headers)
/** Whether a statement of the gateway waits for a lock on this table. Postgres shows statements of a role only to that role. */
const isWaitingForLock = async (table: string) => {
  const { rows } = await gateway.asGateway.query(
    `SELECT FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%' || $1 || '%'`,
    [table],
  )
  return rows.length > 0
}
const commandId = ({ body }: Envelope) => (body as { command_id: string }).command_id
const refuse = (problem: Parameters<typeof toErrorBody>[0]): CommandAnswer => {
  const { code, message, details } = toErrorBody(problem).error
  return { ok: false, problem: { code, message, ...(details === undefined ? {} : { details }) } }
}

describe('creating a deployment', () => {
  const start = async (message: Envelope, state = 'running'): Promise<CommandAnswer> => {
    const warnings = ['careful']
    const deployment_id = await addDeployment(gateway.database, { id: commandId(message), state, warnings })
    return { ok: true, result: { outcome: 'started', deployment_id, warnings } }
  }

  test('is 201 with the started deployment, even if it has already ended', async () => {
    answer = (message) => start(message, 'success')
    const response = await create()
    expect(response.status).toBe(201)
    const { deployment_id, pending, deployment, warnings } = response.body
    expect(warnings).toEqual(['careful'])
    expect({ pending, id: deployment.id }).toEqual({ pending: false, id: deployment_id })
    expect(deployment).toMatchObject({ state: 'running', progress: 0, completed_at: null, duration_ms: null })
    expect(deployment).toMatchObject({ cancelled_by: null, cancelled_at: null, cancel_reason: null })
    expect(deployment.started_at).not.toBeNull()
    expect(deployment.plan.steps).toHaveLength(4)
    expect(new Set(deployment.plan.steps.map(({ state }: { state: string }) => state))).toEqual(new Set(['pending']))
    expect(deployment).not.toHaveProperty('source_deployment_id')
  })

  test('sends a command with the caller, a deadline, the request id and sealed values', async () => {
    answer = (message) => start(message)
    await create({ variables: { token: 'planted-secret' }, prompted_values: { level: 3 }, priority: 7 })
    const [message] = commands as [Envelope<CommandBody<'plan.create'>>]
    expect(message.type).toBe('plan.create')
    expect(message.body.caller).toMatchObject({
      username: 'admin',
      tenant_id: null,
      may_override_freezes: true,
      ip: '127.0.0.1',
    })
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

  test('is 202 if the request is queued', async () => {
    answer = (message) => ({
      ok: true,
      result: { outcome: 'queued', pending_request_id: commandId(message), message: 'waits', warnings: ['careful'] },
    })
    const response = await create()
    expect(response.status).toBe(202)
    expect(response.body).toEqual({
      pending_request_id: commandId(commands[0] as Envelope),
      pending: true,
      message: 'waits',
      warnings: ['careful'],
    })
  })

  test('returns the refusal of the planner or dispatcher unchanged', async () => {
    const freezes = [{ id: UNKNOWN_ID, name: 'Xmas', ends_at: '2026-12-27T00:00:00.000Z' }]
    answer = () => refuse(frozen(freezes, true))
    expect(refusal(await create())).toEqual(
      refused(409, 'DEPLOYMENT_FROZEN', { active_freezes: freezes, can_override: true }),
    )
    const missing = [{ path: '/target_ids/0', id: UNKNOWN_ID }]
    answer = () => refuse(missingRecords(missing))
    expect(refusal(await create())).toEqual(refused(404, 'NOT_FOUND', { missing }))
  })

  test('returns a preview with a step for each target and action with dry_run', async () => {
    const preview = {
      plan: {
        target_count: 1,
        versions: [{ kind: 'action' as const, id: UNKNOWN_ID, name: 'a', version: '1.0.0' }],
        targets: [{ id: UNKNOWN_ID, name: 'a "quoted" target' }],
        actions: [0, 1].map((action_order) => ({
          sequence_id: UNKNOWN_ID,
          sequence_name: 's',
          sequence_version: '1.0.0',
          sequence_order: 0,
          action_id: UNKNOWN_ID,
          action_name: 'a',
          action_version: '1.0.0',
          action_order,
        })),
        resolved_variables: {},
        tenant_name: null,
        environment_name: null,
        created_at: '2026-01-01T00:00:00.000Z',
      },
      warnings: ['careful'],
      blockers: [
        {
          code: 'tenant_limit' as const,
          message: 'm',
          until: null,
          can_override: false,
          details: { running: 1, limit: 1 },
        },
      ],
      earliest_start: null,
      queue: { ahead: 0 },
      target_summary: {
        total: 1,
        online: 1,
        offline: 0,
        stale: 0,
        environments: [{ id: null, name: null, count: 1 }],
      },
      variables: {},
      replaces: [],
      unchanged_targets: [],
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
    const original = await addDeployment(gateway.database)
    const again = await admin.send('redeployDeployment', `/deployments/${original}/redeploy`, {
      target_ids: [UNKNOWN_ID],
      dry_run: true,
    })
    expect(again.status).toBe(200)
    for (const [index, { body }] of [dry, response, again].entries()) {
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
        end_confirmed: null,
      }))
      expect(body).toEqual({ ...rest, plan: { ...plan, steps } })
    }
    expect(commands).toMatchObject([
      ...Array(2).fill({ type: 'plan.preview' }),
      { type: 'plan.preview_redeploy', body: { deployment_id: original } },
    ])

    const replaced = {
      ...{ deployment_id: UNKNOWN_ID, version: '1.0.0', applied_at: null, applied_by: 'ci', difference: null },
      ...{ target_count: 1, unchanged_count: 1, targets: [{ id: UNKNOWN_ID, name: 't' }] },
    }
    const told = { replaces: [replaced], unchanged_targets: [{ id: UNKNOWN_ID, name: 't' }] }
    answer = () => ({ ok: true, result: { ...preview, ...told } })
    expect((await create({ dry_run: true })).body).toMatchObject(told)
  })

  test('finds the deployment if the reply is lost', async () => {
    const request = async (type: CommandType, body: unknown): Promise<never> => {
      await start({ type, body } as Envelope)
      throw new RequestTimeout('the reply is lost')
    }
    const { app } = createGateway({ ...gateway.dependencies, broker: { request } })
    const response = await clientOf({ app }, gateway.adminToken).send('createDeployment', '/deployments', NEW)
    expect(response.status).toBe(201)
    expect(response.body).toMatchObject({ pending: false, warnings: ['careful'] })
  })

  test('is 503 without a reply and without a deployment', async () => {
    answer = () => 'silence'
    const response = await clientOf(impatient(gateway), gateway.adminToken).send(
      'createDeployment',
      '/deployments',
      NEW,
    )
    expect(refusal(response)).toEqual(refused(503, 'SERVICE_UNAVAILABLE'))
  })

  test('is 503 at once without RabbitMQ', async () => {
    const request = async () => {
      throw new BrokerUnavailable('the connection is down', { mayHaveBeenSent: false })
    }
    const { app } = createGateway({ ...gateway.dependencies, broker: { request } })
    const response = await clientOf({ app }, gateway.adminToken).send('createDeployment', '/deployments', NEW)
    expect(refusal(response)).toEqual(refused(503, 'SERVICE_UNAVAILABLE'))
  })
})

describe('a command without a reply', () => {
  const failing = (error: Error) => ({
    request: async () => {
      throw error
    },
  })
  type Found = { pending_request_id: string } | null
  const cancel = (
    error: Error,
    lookUp?: () => Promise<Found>,
    forbid: () => Promise<boolean> = async () => true,
    since = performance.now(),
  ) =>
    sendCommand(
      failing(error),
      'pending.cancel',
      {
        pending_request_id: UNKNOWN_ID,
        caller: { user_id: UNKNOWN_ID, username: 'u', tenant_id: null, may_override_freezes: false, ip: '127.0.0.1' },
      },
      {
        requestId: 'r',
        bounds: boundsOf(since, ANSWER_TIMES),
        ...(lookUp === undefined ? {} : { effect: { lookUp, forbid } }),
      },
    )
  /** The start of a wait whose time for an effect has passed. */
  const longAgo = () => performance.now() - ANSWER_TIMES.answerMs

  test.each([
    ['timed out', new RequestTimeout('late')],
    ['lost its connection', new BrokerUnavailable('lost', { mayHaveBeenSent: true })],
  ])('is looked up until its effect is visible if it %s', async (_, error) => {
    let looks = 0
    const found = await cancel(error, async () => (++looks < 3 ? null : { pending_request_id: UNKNOWN_ID }))
    expect({ found, looks }).toEqual({ found: { pending_request_id: UNKNOWN_ID }, looks: 3 })
  })

  test('has a deadline that counts from the arrival of the call, although its authentication takes long', async () => {
    answer = (message) => refuse(conflict(message.type))
    const holder = await gateway.database.pool.connect()
    try {
      await holder.query('BEGIN')
      await holder.query('LOCK TABLE sessions IN ACCESS EXCLUSIVE MODE')
      const creating = create()
      await waitFor(() => isWaitingForLock('sessions'), { what: 'the authentication to wait' })
      await sleep(200)
      const authenticatedAfter = Date.now()
      await holder.query('COMMIT')
      expect(refusal(await creating)).toEqual(refused(409, 'CONFLICT'))
      const { deadline } = commands[0] as Envelope
      // The call arrived at least 200 ms earlier. The two clocks of the gateway may differ by some milliseconds.
      expect(Date.parse(deadline ?? '')).toBeLessThan(authenticatedAfter + ANSWER_TIMES.effectMs - 100)
    } finally {
      holder.release(true)
    }
  })

  test('is answered in time if the database is silent as well; it may have taken effect then', async () => {
    answer = () => 'silence'
    const { app } = createGateway({
      ...gateway.dependencies,
      answerTimes: { ...ANSWER_TIMES, effectMs: 0, answerMs: 0, lastMs: 500 },
    })
    const hasty = clientOf({ app }, gateway.adminToken)
    const pending = await addPending(gateway.database, {})
    const holder = await gateway.database.pool.connect()
    try {
      await holder.query('BEGIN')
      await holder.query('LOCK TABLE deployments, audit_records IN ACCESS EXCLUSIVE MODE')
      // The lock is held until all three are answered. A statement that waits for a lock is refused as busy, after 10 s more.
      const answers = await Promise.all([
        hasty.send('createDeployment', '/deployments', NEW),
        hasty.send('createDeployment', '/deployments', NEW, { 'idempotency-key': 'silent' }),
        hasty.send('cancelPending', `/deployments/pending/${pending}`),
      ])
      expect(answers.map(refusal)).toEqual(answers.map(() => refused(500, 'DATABASE_CONNECTION_ERROR')))
    } finally {
      holder.release(true)
    }
  })

  test('is not looked up if it was never sent', async () => {
    const lookUp = async () => {
      throw new Error('looked')
    }
    await expect(cancel(new BrokerUnavailable('down', { mayHaveBeenSent: false }), lookUp)).rejects.toThrow('down')
  })

  test('is refused if it has no effect to look up', async () => {
    await expect(cancel(new RequestTimeout('late'))).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
  })

  test('is refused only after its effect is ruled out', async () => {
    const late = cancel(
      new RequestTimeout('late'),
      async () => null,
      async () => true,
      longAgo(),
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
      longAgo(),
    )
    expect(await found).toEqual({ pending_request_id: UNKNOWN_ID })
    await refusedLate
  })
})

describe('redeploying a deployment', () => {
  test('is 201 without the plan and with the id of the original', async () => {
    const original = await addDeployment(gateway.database, { state: 'failed' })
    answer = async (message) => {
      const deployment_id = await addDeployment(gateway.database, {
        id: commandId(message),
        source_deployment_id: original,
      })
      return { ok: true, result: { outcome: 'started', deployment_id, warnings: ['careful'] } }
    }
    const response = await admin.send('redeployDeployment', `/deployments/${original}/redeploy`)
    expect(response.status).toBe(201)
    expect(response.body).toMatchObject({
      warnings: ['careful'],
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

  test('is 404 for an unknown deployment and sends no command', async () => {
    const response = await admin.send('redeployDeployment', `/deployments/${UNKNOWN_ID}/redeploy`, {})
    expect(refusal(response)).toEqual(refused(404, 'NOT_FOUND'))
    expect(commands).toEqual([])
  })
})

describe('cancelling and changing', () => {
  test('a cancelled deployment is returned without its plan, and the command carries the reason', async () => {
    const id = await addDeployment(gateway.database)
    answer = async () => {
      await gateway.database.query(
        `UPDATE deployments SET state = 'cancelled', completed_at = now(), cancelled_by = 'olga',
           cancel_reason = 'wrong window' WHERE id = $1`,
        [id],
      )
      await gateway.database.query(
        `UPDATE steps SET state = 'cancelled', end_confirmed = CASE WHEN target_index = 0 THEN action_index = 0 END,
           error_message = CASE WHEN target_index = 0 THEN 'cancelled' END
          WHERE deployment_id = $1`,
        [id],
      )
      return { ok: true, result: { deployment_id: id } }
    }
    const response = await admin.send('cancelDeployment', `/deployments/${id}/cancel`, { reason: 'wrong window' })
    expect(response.status).toBe(200)
    expect(response.body).toMatchObject({ id, state: 'cancelled', plan: null, progress: 1 })
    const { cancelled_by, cancelled_at, cancel_reason, completed_at } = response.body
    expect([cancelled_by, cancelled_at, cancel_reason]).toEqual(['olga', completed_at, 'wrong window'])
    const { body } = await admin.send('getDeployment', `/deployments/${id}`)
    const ends = body.plan.steps.map((step: { end_confirmed: boolean | null; error_message: string | null }) => [
      step.end_confirmed,
      step.error_message,
    ])
    expect(ends).toEqual([
      [true, 'cancelled; it was ended'],
      [false, 'cancelled; its end is not confirmed'],
      [null, null],
      [null, null],
    ])
    expect(commands[0]).toMatchObject({
      type: 'deployment.cancel',
      body: { deployment_id: id, reason: 'wrong window' },
    })
  })

  test('a cancelled pending request is 200 without a body; ended and unknown requests are refused', async () => {
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

  test('a pending request with a new priority is returned with its new position', async () => {
    await gateway.database.query('DELETE FROM pending_requests')
    await addPending(gateway.database, { priority: 5 })
    const id = await addPending(gateway.database)
    answer = async () => {
      await gateway.database.query(
        `UPDATE pending_requests SET priority = 6, rank = ${rankOf('6', 'queued_at')} WHERE id = $1`,
        [id],
      )
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
