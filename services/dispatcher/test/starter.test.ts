import { expect, test } from '@jest/globals'
import { recordAudit } from '@slipway/database/audit'
import { uuidv7 } from '@slipway/runtime'
import { testLogger } from '@slipway/testing'
import { createStarter } from '../src/dispatch/starter.ts'
import { testDatabase } from './database.ts'
import { addInstance, outbox, startCommand, stepStates } from './fixtures.ts'

const { database, asDispatcher, catalog } = await testDatabase()

const received = { request_id: null }
/** Errors are expected in these tests, so they are not logged. */
const logger = { ...testLogger, error: () => {} }

test('starts that arrive during a start share the next transaction, by priority, each with its own records and messages', async () => {
  await addInstance(database, 3)
  await addInstance(database, 3)
  const start = createStarter({ database: asDispatcher, logger })
  const commands = Array.from({ length: 8 }, (_, priority) => startCommand(catalog, { priority }))
  const outcomes = await Promise.all(
    commands.map(async (command, n) => {
      // The first start has begun by then.
      if (n > 0) await new Promise(setImmediate)
      return start(command, { request_id: `request-${n}`, deadline: '9999-01-01T00:00:00Z' })
    }),
  )
  // The first one has started alone. Of the others the highest priorities get the slots.
  const started = [0, 3, 4, 5, 6, 7]
  expect(outcomes.map((outcome) => outcome?.outcome)).toEqual(
    commands.map((_, n) => (started.includes(n) ? 'started' : 'queued')),
  )
  const { rows } = await database.query(
    `SELECT d.id, d.request_id, (d.plan_head #>> '{options,priority}')::int AS priority, count(l.epoch) AS leases
       FROM deployments d LEFT JOIN leases l ON l.deployment_id = d.id GROUP BY d.id ORDER BY d.id`,
  )
  expect(rows).toEqual(
    started.map((n) => {
      return { id: commands[n]?.command_id, request_id: `request-${n}`, priority: n, leases: 1 }
    }),
  )
  for (const { command_id } of commands.filter((_, n) => started.includes(n))) {
    expect(await stepStates(database, command_id)).toHaveLength(6)
    expect(new Set(await outbox(database, command_id))).toEqual(new Set(['lease.changed', 'deployment.created']))
  }
  const waiting = await database.query('SELECT id, priority, request_id FROM pending_requests ORDER BY id')
  expect(waiting.rows).toEqual(
    [1, 2].map((n) => ({ id: commands[n]?.command_id, priority: n, request_id: `request-${n}` })),
  )
  const transactions = await database.query(
    `SELECT count(DISTINCT xmin::text) AS deployments,
            (SELECT count(DISTINCT xmin::text) FROM audit_records WHERE action = 'deployment.create') AS records,
            (SELECT count(*) FROM audit_records WHERE action = 'deployment.create') AS calls FROM deployments`,
  )
  expect(transactions.rows).toEqual([{ deployments: 2, records: 2, calls: 8 }])
})

test('a refused, broken, late or repeated start does not stop the other starts of its batch', async () => {
  await addInstance(database, 10)
  await database.query(
    `INSERT INTO freezes (id, name, start_time, end_time, tenant_id, updated_at)
     VALUES ($1, 'year end', now() - interval '1 hour', now() + interval '1 hour', $2, now())`,
    [uuidv7(), catalog.tenant_id],
  )
  const start = createStarter({ database: asDispatcher, logger })
  const [alone, good, last] = [startCommand(catalog), startCommand(catalog), startCommand(catalog)]
  const late = startCommand(catalog)
  const frozen = startCommand(catalog, { tenant: true })
  const givenUp = startCommand(catalog)
  const broken = startCommand(catalog)
  broken.plan.actions[0] = { ...startCommand(catalog).plan.actions[0], action_id: 'no id' } as never
  await recordAudit(database, [
    {
      id: givenUp.command_id,
      actor_id: null,
      actor_name: null,
      actor_ip: null,
      request_id: null,
      action: 'deployment.create',
      resource_type: 'deployment',
      resource_id: null,
      tenant_id: null,
      details: { outcome: 'failed' },
    },
  ])
  const ends = await Promise.allSettled([
    start(alone, received),
    start(good, received),
    start(frozen, received),
    start(late, { ...received, deadline: '2000-01-01T00:00:00Z' }),
    start(givenUp, received),
    start(good, received),
    start(broken, received),
    start(last, received),
  ])
  const started = ({ command_id }: { command_id: string }) => {
    return { status: 'fulfilled', value: { outcome: 'started', deployment_id: command_id, warnings: [] } }
  }
  expect(ends).toEqual([
    started(alone),
    started(good),
    { status: 'rejected', reason: expect.objectContaining({ code: 'DEPLOYMENT_FROZEN' }) },
    { status: 'fulfilled', value: null },
    { status: 'fulfilled', value: null },
    started(good),
    { status: 'rejected', reason: expect.objectContaining({ severity: 'ERROR' }) },
    started(last),
  ])
  const { rows } = await database.query('SELECT deployment_id FROM leases ORDER BY deployment_id')
  expect(rows.map(({ deployment_id }) => deployment_id)).toEqual([alone, good, last].map((each) => each.command_id))
})

test('a deployment keeps the name of the API key of its request', async () => {
  await addInstance(database, 2)
  const start = createStarter({ database: asDispatcher, logger })
  const [byKey, byPerson] = [startCommand(catalog), startCommand(catalog)]
  const commands = [{ ...byKey, caller: { ...byKey.caller, key_name: 'ci' } }, byPerson]
  for (const command of commands) await start(command, { request_id: null, deadline: '9999-01-01T00:00:00Z' })
  const { rows } = await database.query('SELECT api_key_name FROM deployments WHERE id = ANY ($1) ORDER BY id', [
    commands.map(({ command_id }) => command_id),
  ])
  expect(rows).toEqual([{ api_key_name: 'ci' }, { api_key_name: null }])
})
