import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { type Broker, BrokerUnavailable } from '@slipway/broker'
import { type CommandBody, type Envelope, QUEUED_MESSAGE, type ReplyEnvelope } from '@slipway/contracts'
import { conflict, notFound, toErrorBody } from '@slipway/domain'
import { uuidv7 } from '@slipway/runtime'
import { addPending, waitFor } from '@slipway/testing'
import { startKeySweeper } from '../src/deployments/idempotency.ts'
import { createGateway } from '../src/gateway.ts'
import { addDeployment } from './deployment-rows.ts'
import { type CommandAnswer, startOtherServices } from './other-services.ts'
import {
  addUser,
  type Client,
  clientOf,
  impatient,
  logger,
  refusal,
  refused,
  startGateway,
  type TestGateway,
  UNKNOWN_ID,
} from './setup.ts'

type StartPlan = Envelope<CommandBody<'plan.create'>>

let gateway: TestGateway
let admin: Client
/** A client of another replica. */
let other: Client
/** A client that does not wait for the effect of an earlier call. */
let hasty: Client
let services: Broker
let answer: (message: StartPlan) => Promise<CommandAnswer> | CommandAnswer
let commands: StartPlan[] = []

beforeAll(async () => {
  gateway = await startGateway()
  admin = clientOf(gateway, gateway.adminToken)
  other = clientOf(createGateway(gateway.dependencies), gateway.adminToken)
  hasty = clientOf(impatient(gateway), gateway.adminToken)
  services = await startOtherServices(gateway, (message) => {
    commands.push(message as StartPlan)
    return answer(message as StartPlan)
  })
})
beforeEach(() => {
  commands = []
  answer = start
})
afterAll(async () => {
  await services.close()
  await gateway.close()
})

const body = { action_id: UNKNOWN_ID, target_ids: [UNKNOWN_ID], variables: { a: 1, b: 2 } }
const create = (key: string, more: object = {}, client = admin) =>
  client.send('createDeployment', '/deployments', { ...body, ...more }, { 'idempotency-key': key })

const start = async ({ body: { command_id } }: StartPlan): Promise<ReplyEnvelope> => {
  const warnings = ['careful']
  // In one transaction, as the dispatcher does: a repeated call may read the deployment as soon as its row is visible.
  await gateway.database.transaction((tx) => addDeployment(tx, { id: command_id, warnings }))
  return { ok: true, result: { outcome: 'started', deployment_id: command_id, warnings } }
}
const queue = async ({ body: { command_id } }: StartPlan): Promise<ReplyEnvelope> => {
  const warnings = ['careful']
  await addPending(gateway.database, { id: command_id, command: { warnings } })
  const queued = { outcome: 'queued', pending_request_id: command_id, message: QUEUED_MESSAGE, warnings }
  return { ok: true, result: queued }
}
const refuse = (): ReplyEnvelope => {
  const { code, message } = toErrorBody(notFound('The action')).error
  return { ok: false, problem: { code, message } }
}
const recordsOf = async (requestId: string) =>
  (await gateway.database.query('SELECT details FROM audit_records WHERE request_id = $1', [requestId])).rows

describe('the same key', () => {
  test('returns the first answer again, on any replica, even after the deployment has ended', async () => {
    const key = uuidv7()
    const first = await create(key)
    const id = first.body.deployment_id
    await gateway.database.query(
      `UPDATE deployments SET state = 'failed', completed_at = now(), error_message = 'oh' WHERE id = $1`,
      [id],
    )
    await gateway.database.query(`UPDATE steps SET state = 'failed', exit_code = 1 WHERE deployment_id = $1`, [id])
    const again = await other.send(
      'createDeployment',
      '/deployments',
      { variables: { b: 2, a: 1 }, target_ids: [UNKNOWN_ID], action_id: UNKNOWN_ID },
      { 'idempotency-key': key, 'x-request-id': `again-${key}` },
    )
    expect([first.status, again.status]).toEqual([201, 201])
    expect(again.text).toBe(first.text)
    expect(commands).toHaveLength(1)
    expect(await recordsOf(`again-${key}`)).toEqual([])
  })

  test('returns the 202 again after the request was dispatched', async () => {
    answer = queue
    const key = uuidv7()
    const first = await create(key)
    const deployment_id = await addDeployment(gateway.database)
    await gateway.database.query(
      `UPDATE pending_requests SET status = 'dispatched', deployment_id = $2, dispatched_at = now() WHERE id = $1`,
      [first.body.pending_request_id, deployment_id],
    )
    const again = await create(key, {}, other)
    expect([again.status, again.text]).toEqual([202, first.text])
    expect(commands).toHaveLength(1)
  })

  test('is 409 with another body and leaves one audit record', async () => {
    const key = uuidv7()
    await create(key)
    const clash = await admin.send(
      'createDeployment',
      '/deployments',
      { ...body, priority: 1 },
      { 'idempotency-key': key, 'x-request-id': `clash-${key}` },
    )
    expect(refusal(clash)).toEqual(refused(409, 'CONFLICT', { idempotency_key: key }))
    expect(await recordsOf(`clash-${key}`)).toEqual([
      { details: { outcome: 'refused', status: 409, code: 'CONFLICT' } },
    ])
    expect(commands).toHaveLength(1)
  })

  test('can be used again after a refusal, also with another body', async () => {
    const key = uuidv7()
    answer = refuse
    expect(refusal(await create(key))).toEqual(refused(404, 'NOT_FOUND'))
    answer = start
    expect((await create(key, { priority: 3 })).status).toBe(201)
    expect(refusal(await create(key))).toEqual(refused(409, 'CONFLICT', { idempotency_key: key }))
    expect(commands).toHaveLength(2)
  })

  test('can be used again if the command could not be sent', async () => {
    const key = uuidv7()
    const request = async () => {
      throw new BrokerUnavailable('the connection is down', { mayHaveBeenSent: false })
    }
    const cutOff = clientOf(createGateway({ ...gateway.dependencies, broker: { request } }), gateway.adminToken)
    expect(refusal(await create(key, {}, cutOff))).toEqual(refused(503, 'SERVICE_UNAVAILABLE'))
    expect((await create(key)).status).toBe(201)
  })

  test('is separate for each user and path, and a call without a key is executed again', async () => {
    const key = uuidv7()
    const { token } = await addUser(gateway, { role: 'operator' })
    const first = await create(key)
    const ofAnother = await create(key, {}, clientOf(gateway, token))
    const redeploys = [first.body.deployment_id, ofAnother.body.deployment_id].map((id) =>
      admin.send('redeployDeployment', `/deployments/${id}/redeploy`, {}, { 'idempotency-key': key }),
    )
    const ids = (await Promise.all(redeploys)).map((response) => response.body.id)
    const without = await admin.send('createDeployment', '/deployments', body)
    const all = [first.body.deployment_id, ofAnother.body.deployment_id, ...ids, without.body.deployment_id]
    expect(new Set(all).size).toBe(5)
    expect(commands).toHaveLength(5)
  })

  test('returns the first answer to a redeploy again; no body equals an empty body', async () => {
    const key = { 'idempotency-key': uuidv7() }
    const original = await addDeployment(gateway.database)
    const path = `/deployments/${original}/redeploy`
    const first = await admin.send('redeployDeployment', path, {}, key)
    const again = await other.send('redeployDeployment', path, undefined, key)
    expect([again.status, again.text]).toEqual([201, first.text])
    expect(refusal(await admin.send('redeployDeployment', path, { priority: 2 }, key)).status).toBe(409)
    expect(commands.map(({ type }) => type)).toEqual(['plan.redeploy'])
  })

  test('is found under row-level security for a caller of a tenant', async () => {
    const key = uuidv7()
    const { body: tenant } = await admin.send('createTenant', '/tenants', { name: `t-${key}` })
    const { token } = await addUser(gateway, { role: 'operator', tenant_id: tenant.id })
    answer = async ({ body: { command_id } }) => {
      await addDeployment(gateway.database, { id: command_id, tenant_id: tenant.id })
      return { ok: true, result: { outcome: 'started', deployment_id: command_id, warnings: [] } }
    }
    const bound = clientOf(gateway, token)
    const first = await create(key, {}, bound)
    const again = await create(key, {}, bound)
    expect([first.status, again.status, again.text]).toEqual([201, 201, first.text])
    expect(commands).toHaveLength(1)
  })

  test('is not used by a dry run', async () => {
    const key = uuidv7()
    answer = refuse
    expect((await create(key, { dry_run: true })).status).toBe(404)
    answer = start
    expect((await create(key)).status).toBe(201)
  })
})

describe('a request that changes no target', () => {
  const unchanged = ({ type }: StartPlan): ReplyEnvelope => {
    const told = { message: 'no target changes', unchanged_target_ids: [UNKNOWN_ID] }
    if (!type.startsWith('plan.preview')) return { ok: true, result: { outcome: 'unchanged', ...told } }
    const { code, message, details = {} } = conflict(told.message, { unchanged_target_ids: [UNKNOWN_ID] })
    return { ok: false, problem: { code, message, details } }
  }
  const nothing = {
    deployment_id: null,
    pending: false,
    message: expect.any(String),
    unchanged_target_ids: [UNKNOWN_ID],
  }

  test('is 200 without a deployment or an audit record, and leaves its key free', async () => {
    answer = unchanged
    const key = uuidv7()
    const headers = { 'idempotency-key': key, 'x-request-id': `unchanged-${key}` }
    for (let n = 0; n < 2; n += 1) {
      const { status, body: told } = await admin.send('createDeployment', '/deployments', body, headers)
      expect({ status, told }).toEqual({ status: 200, told: nothing })
    }
    const original = await addDeployment(gateway.database)
    const again = await admin.send('redeployDeployment', `/deployments/${original}/redeploy`, {}, headers)
    expect({ status: again.status, told: again.body }).toEqual({ status: 200, told: nothing })
    expect(await recordsOf(`unchanged-${key}`)).toEqual([])
    answer = start
    expect((await create(key)).status).toBe(201)
  })

  test('is 409 in a preview and in a dry run', async () => {
    answer = unchanged
    const expected = refused(409, 'CONFLICT', { unchanged_target_ids: [UNKNOWN_ID] })
    expect(refusal(await create(uuidv7(), { dry_run: true }))).toEqual(expected)
    expect(refusal(await admin.send('previewDeployment', '/deployments/preview', body))).toEqual(expected)
  })
})

describe('concurrent calls with one key', () => {
  test('cause one command on two replicas, and all return its answer', async () => {
    const key = uuidv7()
    answer = async (message) => {
      await waitFor(async () => commands.length > 0)
      return start(message)
    }
    const all = await Promise.all(Array.from({ length: 20 }, (_, n) => create(key, {}, n % 2 === 0 ? admin : other)))
    expect(new Set(all.map(({ status }) => status))).toEqual(new Set([201]))
    expect(new Set(all.map(({ text }) => text)).size).toBe(1)
    expect(commands).toHaveLength(1)
  })

  test('go on one by one after a refusal', async () => {
    const key = uuidv7()
    let refusals = 0
    answer = (message) => (refusals++ === 0 ? refuse() : start(message))
    const all = await Promise.all(Array.from({ length: 10 }, () => create(key)))
    expect(all.map(({ status }) => status).sort()).toEqual([...Array(9).fill(201), 404])
    expect(commands).toHaveLength(2)
  })
})

describe('a key of a gateway that died', () => {
  const API_KEY = { id: uuidv7(), name: 'pipeline' }
  const taken = async (age: string) => {
    const key = uuidv7()
    const old = uuidv7()
    await gateway.database.query(
      `INSERT INTO idempotency_keys (user_id, scope, key, command_id, body_hash, request_id, client_ip, api_key, claimed_at)
       SELECT id, 'POST /deployments', $1, $2, 'test.unknown', $4, '192.0.2.7', $5, now() - $3::interval
         FROM users WHERE username = 'admin'`,
      [key, old, age, `first-${key}`, JSON.stringify(API_KEY)],
    )
    return { key, old }
  }

  test('is used by a retry only after the effect of its command is ruled out', async () => {
    const { key, old } = await taken('11 seconds')
    const { status, body: created } = await create(key)
    expect(status).toBe(201)
    expect(created.deployment_id).not.toBe(old)
    const { rows } = await gateway.database.query('SELECT details FROM audit_records WHERE id = $1', [old])
    expect(rows).toMatchObject([{ details: { outcome: 'failed', code: 'SERVICE_UNAVAILABLE' } }])
  })

  test('leaves an audit record for the failed call and one for the retry', async () => {
    const { key, old } = await taken('11 seconds')
    answer = refuse
    const headers = { 'idempotency-key': key, 'x-request-id': `retry-${key}` }
    const retry = await admin.send('createDeployment', '/deployments', body, headers)
    expect(refusal(retry)).toEqual(refused(404, 'NOT_FOUND'))
    const { rows } = await gateway.database.query(
      `SELECT id, request_id, actor_name, actor_ip, details FROM audit_records
        WHERE request_id IN ($1, $2) ORDER BY number`,
      [`first-${key}`, `retry-${key}`],
    )
    expect(rows).toMatchObject([
      {
        id: old,
        request_id: `first-${key}`,
        actor_name: 'admin',
        actor_ip: '192.0.2.7',
        details: { outcome: 'failed', status: 503, api_key: API_KEY },
      },
      { request_id: `retry-${key}`, details: { outcome: 'refused', status: 404, code: 'NOT_FOUND' } },
    ])
  })

  test('leaves an audit record for the retry even if another call takes the key first', async () => {
    const { key, old } = await taken('11 seconds')
    const headers = { 'idempotency-key': key, 'x-request-id': `retry-${key}` }
    // This trigger takes the key for another call as soon as it is deleted.
    await gateway.database.query(
      `CREATE FUNCTION take_again() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
         INSERT INTO idempotency_keys (user_id, scope, key, command_id, body_hash)
         VALUES (OLD.user_id, OLD.scope, OLD.key, gen_random_uuid(), 'test.unknown');
         RETURN NULL; END $$`,
    )
    await gateway.database.query(
      'CREATE TRIGGER take_again AFTER DELETE ON idempotency_keys FOR EACH ROW EXECUTE FUNCTION take_again()',
    )
    try {
      const retry = await hasty.send('createDeployment', '/deployments', body, headers)
      expect(refusal(retry)).toEqual(refused(503, 'SERVICE_UNAVAILABLE'))
    } finally {
      await gateway.database.query('DROP FUNCTION take_again CASCADE')
    }
    const { rows } = await gateway.database.query<{ id: string; request_id: string }>(
      'SELECT id, request_id FROM audit_records WHERE request_id IN ($1, $2) ORDER BY number',
      [`first-${key}`, `retry-${key}`],
    )
    expect(rows.map(({ request_id }) => request_id)).toEqual([`first-${key}`, `retry-${key}`])
    expect(rows[0]?.id).toBe(old)
  })

  test('returns the effect of its command to a retry', async () => {
    const key = uuidv7()
    const first = await create(key)
    await gateway.database.query(
      `UPDATE idempotency_keys SET claimed_at = now() - interval '1 minute' WHERE key = $1`,
      [key],
    )
    expect((await create(key)).text).toBe(first.text)
    expect(commands).toHaveLength(1)
  })

  test('makes a retry after a second wait for the effect', async () => {
    const { key, old } = await taken('1 second')
    await gateway.database.query('DELETE FROM idempotency_keys WHERE key = $1', [key])
    const first = await create(key)
    await gateway.database.query('UPDATE idempotency_keys SET command_id = $2, claimed_at = now() WHERE key = $1', [
      key,
      old,
    ])
    const waiting = create(key)
    await addDeployment(gateway.database, { id: old })
    const { status, body: answered } = await waiting
    expect({ status, id: answered.deployment_id }).toEqual({ status: 201, id: old })
    expect(first.body.deployment_id).not.toBe(old)
    expect(commands).toHaveLength(1)
  })

  test('makes a retry after a second 503 if no effect follows, and nothing is created', async () => {
    const { key } = await taken('1 second')
    expect(refusal(await create(key, {}, hasty))).toEqual(refused(503, 'SERVICE_UNAVAILABLE'))
    expect(commands).toEqual([])
  })
})

test('a key expires after 24 hours and is deleted', async () => {
  const [used, unused] = [uuidv7(), uuidv7()]
  await create(used)
  await create(unused)
  await gateway.database.query(`UPDATE idempotency_keys SET claimed_at = now() - interval '24 hours'`)
  expect((await create(used, { priority: 9 })).status).toBe(201)
  const sweeper = startKeySweeper(gateway.dependencies.database, logger)
  try {
    await waitFor(async () => {
      const { rows } = await gateway.database.query('SELECT key FROM idempotency_keys')
      return rows.length === 1 && rows[0]?.['key'] === used
    })
  } finally {
    await sweeper.stop()
  }
})

test.each([
  ['empty', ''],
  ['with a blank', 'a b'],
  ['too long', 'k'.repeat(256)],
  ['of characters outside of visible ASCII', 'schlüssel'],
])('a key that is %s is 400, together with every other problem', async (_, key) => {
  const response = await create(key, { priority: 101 })
  expect(response.status).toBe(400)
  const paths = response.body.error.details.errors.map(({ path }: { path: string }) => path)
  expect(paths.sort()).toEqual(['/priority', 'header/Idempotency-Key'])
})

test('a key may have 255 visible characters', async () => {
  expect((await create('~!'.repeat(128).slice(0, 255))).status).toBe(201)
})
