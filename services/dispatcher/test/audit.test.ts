import { expect, test } from '@jest/globals'
import { recordAudit } from '@slipway/database/audit'
import { Problem } from '@slipway/domain'
import { uuidv7 } from '@slipway/runtime'
import { testLogger } from '@slipway/testing'
import { cancelDeployment } from '../src/deployments/cancel.ts'
import { dispatchQueue } from '../src/dispatch/dispatch-queue.ts'
import { cancelPending } from '../src/pending/cancel.ts'
import { testDatabase } from './database.ts'
import { ADMIN, addInstance, deployment, startCommand, startDeployment } from './fixtures.ts'

const { database, asDispatcher, catalog } = await testDatabase()

const received = { request_id: 'request-1', api_key: { id: uuidv7(), name: 'pipeline' } }
const command = () => ({ command_id: uuidv7(), request_id: 'request-2' })

async function recordsOf(resourceId: string): Promise<Record<string, unknown>[]> {
  const { rows } = await database.query(
    `SELECT id, actor_id, actor_name, actor_ip, action, resource_type, tenant_id, request_id, details
       FROM audit_records WHERE resource_id = $1 ORDER BY number`,
    [resourceId],
  )
  return rows
}

/** Writes the audit record that the gateway writes when it gives up a command message. */
const refuse = (id: string) =>
  recordAudit(database, [
    {
      id,
      actor_id: ADMIN.user_id,
      actor_name: ADMIN.username,
      actor_ip: ADMIN.ip,
      action: 'deployment.create',
      resource_type: 'deployment',
      resource_id: id,
      tenant_id: null,
      request_id: null,
      details: { outcome: 'failed', status: 503, code: 'SERVICE_UNAVAILABLE' },
    },
  ])

test('a start leaves one audit record, even if copies of its command message are handled at the same time', async () => {
  await addInstance(database, 5)
  const start = startCommand(catalog, { tenant: true, priority: 7 })
  await Promise.all(Array.from({ length: 4 }, () => startDeployment(database, start, received)))
  await startDeployment(database, start, received)
  expect(await recordsOf(start.command_id)).toEqual([
    {
      id: start.command_id,
      actor_id: ADMIN.user_id,
      actor_name: 'ada',
      actor_ip: '127.0.0.1',
      action: 'deployment.create',
      resource_type: 'deployment',
      tenant_id: catalog.tenant_id,
      request_id: 'request-1',
      details: {
        outcome: 'started',
        source: { type: 'action', id: catalog.action_id, name: 'release', version: '1.0.0' },
        environment: null,
        target_count: 2,
        priority: 7,
        api_key: received.api_key,
      },
    },
  ])
})

test('a queued request has the audit record of its call, and its dispatch adds none', async () => {
  const start = startCommand(catalog)
  await startDeployment(database, start, received)
  await addInstance(database, 1)
  await dispatchQueue({ database: asDispatcher, logger: testLogger, onCommitted() {} })
  const { rows } = await database.query<{ status: string }>('SELECT status FROM pending_requests')
  expect(rows[0]?.status).toBe('dispatched')
  expect(await recordsOf(start.command_id)).toMatchObject([
    { action: 'deployment.create', resource_type: 'pending_request', details: { outcome: 'queued' } },
  ])
  await startDeployment(database, start, received)
  expect(await recordsOf(start.command_id)).toHaveLength(1)
})

test('the audit record of a redeploy names the original deployment and the overridden freeze with the reason', async () => {
  await addInstance(database, 1)
  const freeze = uuidv7()
  await database.query(
    `INSERT INTO freezes (id, name, start_time, end_time, updated_at)
     VALUES ($1, 'Xmas', now() - interval '1 h', now() + interval '1 h', now())`,
    [freeze],
  )
  const original = uuidv7()
  const redeploy = { ...startCommand(catalog, { freeze_override: { reason: 'security fix' } }) }
  redeploy.source_deployment_id = original
  await startDeployment(database, redeploy, received)
  expect(await recordsOf(redeploy.command_id)).toMatchObject([
    {
      action: 'deployment.redeploy',
      details: {
        source_deployment_id: original,
        freeze_override: { reason: 'security fix', freezes: [{ id: freeze, name: 'Xmas' }] },
      },
    },
  ])
})

test('the dispatcher writes no audit record for a refused or late start', async () => {
  await database.query(
    `INSERT INTO freezes (id, name, start_time, end_time, updated_at)
     VALUES ($1, 'Xmas', now() - interval '1 h', now() + interval '1 h', now())`,
    [uuidv7()],
  )
  const frozen = startCommand(catalog)
  await expect(startDeployment(database, frozen, received)).rejects.toBeInstanceOf(Problem)
  const late = startCommand(catalog)
  const deadline = new Date(Date.now() - 1000).toISOString()
  expect(await startDeployment(database, late, { ...received, deadline })).toBeNull()
  expect([...(await recordsOf(frozen.command_id)), ...(await recordsOf(late.command_id))]).toEqual([])
})

test('one of several simultaneous cancels succeeds and is recorded, and only its copy succeeds later', async () => {
  await addInstance(database, 1)
  const start = startCommand(catalog)
  await startDeployment(database, start, received)
  const body = { deployment_id: start.command_id, caller: ADMIN, reason: 'wrong version' }
  const commands = Array.from({ length: 6 }, command)
  const outcomes = await Promise.allSettled(commands.map((each) => cancelDeployment(asDispatcher, body, each)))
  const won = commands.filter((_, index) => outcomes[index]?.status === 'fulfilled')
  expect(won).toHaveLength(1)
  const again = await Promise.allSettled(commands.map((each) => cancelDeployment(asDispatcher, body, each)))
  expect(commands.filter((_, index) => again[index]?.status === 'fulfilled')).toEqual(won)
  expect((await recordsOf(start.command_id)).slice(1)).toMatchObject([
    {
      id: won[0]?.command_id,
      action: 'deployment.cancel',
      resource_type: 'deployment',
      request_id: 'request-2',
      details: { state: 'running', reason: 'wrong version' },
    },
  ])
})

test('one of several simultaneous cancels of a pending request succeeds and is recorded', async () => {
  const start = startCommand(catalog)
  await startDeployment(database, start, received)
  const body = { pending_request_id: start.command_id, caller: ADMIN }
  const commands = Array.from({ length: 6 }, command)
  const both = [...commands, ...commands].map((each) => cancelPending(asDispatcher, body, each))
  const outcomes = await Promise.allSettled(both)
  const won = new Set(
    [...commands, ...commands]
      .filter((_, index) => outcomes[index]?.status === 'fulfilled')
      .map(({ command_id }) => command_id),
  )
  expect(won.size).toBe(1)
  expect((await recordsOf(start.command_id)).slice(1)).toMatchObject([
    { id: [...won][0], action: 'pending_request.cancel', resource_type: 'pending_request' },
  ])
})

test('a command message that its sender has given up has no effect', async () => {
  await addInstance(database, 2)
  const given = startCommand(catalog)
  await refuse(given.command_id)
  expect(await startDeployment(database, given, received)).toBeNull()
  const { rows } = await database.query(
    'SELECT FROM deployments UNION ALL SELECT FROM leases UNION ALL SELECT FROM outbox',
  )
  expect(rows).toEqual([])
  expect(await recordsOf(given.command_id)).toMatchObject([{ details: { outcome: 'failed', status: 503 } }])

  const start = startCommand(catalog)
  await startDeployment(database, start, received)
  const cancel = command()
  await refuse(cancel.command_id)
  expect(await cancelDeployment(asDispatcher, { deployment_id: start.command_id, caller: ADMIN }, cancel)).toBeNull()
  expect((await deployment(database, start.command_id)).state).toBe('running')
  await cancelDeployment(asDispatcher, { deployment_id: start.command_id, caller: ADMIN }, command())
  // The given-up cancel also fails after another cancel has ended the deployment.
  await expect(
    cancelDeployment(asDispatcher, { deployment_id: start.command_id, caller: ADMIN }, cancel),
  ).rejects.toMatchObject({ code: 'CONFLICT' })
})

test('a start of a large plan that its sender has given up has no effect', async () => {
  await addInstance(database, 1)
  const { rows: targets } = await database.query<{ id: string }>(
    `INSERT INTO targets (id, name, connection, updated_at)
     SELECT gen_random_uuid(), 'large ' || n, '{"type":"local"}', now() FROM generate_series(1, 400) n RETURNING id`,
  )
  const start = startCommand({ ...catalog, target_ids: targets.map(({ id }) => id) })
  await refuse(start.command_id)
  expect(await startDeployment(database, start, received)).toBeNull()
  expect((await database.query('SELECT FROM deployments UNION ALL SELECT FROM leases')).rowCount).toBe(0)
})

test('if a start is given up while it is handled, either it starts or it is recorded as failed', async () => {
  await addInstance(database, 20)
  const starts = Array.from({ length: 20 }, () => startCommand(catalog))
  const outcomes = await Promise.all(
    starts.map(async (start) => {
      const [outcome, refused] = await Promise.all([
        startDeployment(database, start, received),
        refuse(start.command_id),
      ])
      return { started: outcome !== null, refused: refused === 1, records: (await recordsOf(start.command_id)).length }
    }),
  )
  for (const { started, refused, records } of outcomes)
    expect({ one: started !== refused, records }).toEqual({ one: true, records: 1 })
  const { rows } = await database.query<{ n: number }>('SELECT count(*) AS n FROM deployments')
  expect(rows[0]?.n).toBe(outcomes.filter(({ started }) => started).length)
})
