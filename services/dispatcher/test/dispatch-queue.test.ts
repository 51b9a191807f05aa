import { setTimeout } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import { LOCK_KEYS } from '@slipway/database'
import { uuidv7 } from '@slipway/runtime'
import { testLogger as logger } from '@slipway/testing'
import { finishDeployment } from '../src/deployments/finish.ts'
import { dispatchQueue } from '../src/dispatch/dispatch-queue.ts'
import { testDatabase } from './database.ts'
import {
  addCatalog,
  addInstance,
  deployment,
  liveLease,
  outbox,
  startCommand,
  startDeployment,
  states,
} from './fixtures.ts'
import { requestsOf } from './requests.ts'

const db = await testDatabase()
const { database, asDispatcher, catalog } = db
const { dispatchAll, submit, pending } = requestsOf(db)

async function dispatchOrder(): Promise<string[]> {
  const { rows } = await database.query<{ id: string }>(
    `SELECT p.id FROM pending_requests p JOIN leases l ON l.deployment_id = p.deployment_id ORDER BY l.epoch`,
  )
  return rows.map(({ id }) => id)
}

test('requests are dispatched by priority, then age, as slots become free', async () => {
  const low = await submit({ priority: -5 })
  const old = await submit()
  const young = await submit()
  const urgent = await submit({ priority: 50 })
  const instance = await addInstance(database, 1)
  for (const id of [urgent, old, young, low]) {
    await dispatchAll()
    const request = await pending(id)
    expect(request).toMatchObject({ status: 'dispatched', dispatched_to_instance_id: instance })
    const deploymentId = String(request.deployment_id)
    const lease = await liveLease(database, deploymentId)
    await finishDeployment(asDispatcher, {
      deployment_id: deploymentId,
      epoch: lease?.epoch ?? 0,
      outcome: 'success',
      error_message: null,
    })
  }
  expect(await dispatchOrder()).toEqual([urgent, old, young, low])
})

test('a pending request stores its source, its number of targets and the first targets', async () => {
  expect(await pending(await submit())).toMatchObject({
    source_type: 'action',
    source_id: catalog.action_id,
    source_name: 'release',
    source_version: '1.0.0',
    target_count: catalog.target_ids.length,
    first_targets: catalog.target_ids.map((id) => ({ id, name: expect.any(String) })),
  })
})

test('a dispatched request becomes a deployment with its id, which was queued first', async () => {
  const id = await submit()
  await addInstance(database, 1)
  await dispatchAll()
  const request = await pending(id)
  expect(request.deployment_id).toBe(id)
  expect(await states(database, id)).toEqual(['queued', 'running'])
  expect(await deployment(database, id)).toMatchObject({ request_id: `request-${id}`, total_steps: 6 })
  expect(await outbox(database, id)).toEqual([
    'pending.created',
    'pending.updated',
    'lease.changed',
    'deployment.created',
  ])
  const { rows } = await database.query(`SELECT DISTINCT request_id FROM outbox WHERE body ->> 'deployment_id' = $1`, [
    id,
  ])
  expect(rows).toEqual([{ request_id: `request-${id}` }])
})

test('a new request starts behind requests of the same priority and before requests of a lower one', async () => {
  const [first, second] = [await submit({ priority: 0 }), await submit({ priority: 0 })]
  await addInstance(database, 2)
  const higher = startCommand(catalog, { priority: 1 })
  expect(await startDeployment(database, higher, { request_id: null })).toMatchObject({ outcome: 'started' })
  expect((await pending(first)).status).toBe('dispatched')
  await addInstance(database, 1)
  const same = startCommand(catalog, { priority: 0 })
  expect(await startDeployment(database, same, { request_id: null })).toMatchObject({ outcome: 'queued' })
  expect((await pending(second)).status).toBe('dispatched')
})

test('a long queue fills exactly the free slots of all instances that are not draining, in order', async () => {
  const ids: string[] = []
  for (let n = 0; n < 120; n += 1) ids.push(await submit())
  const [half, whole, draining] = [
    await addInstance(database, 60),
    await addInstance(database, 40),
    await addInstance(database, 40),
  ]
  await database.query('UPDATE instances SET draining = true WHERE id = $1', [draining])
  // Every second slot of the first instance is taken.
  const taken = Array.from({ length: 30 }, (_, n) => 2 * n)
  await database.query(
    'INSERT INTO leases (instance_id, slot, deployment_id) SELECT $1, unnest($2::int[]), gen_random_uuid()',
    [half, taken],
  )
  await Promise.all([dispatchAll(), dispatchAll()])
  expect(await dispatchOrder()).toEqual(ids.slice(0, 70))
  const { rows } = await database.query(
    `SELECT instance_id, count(*)::int AS live, count(DISTINCT slot)::int AS slots FROM leases
      WHERE ended_at IS NULL GROUP BY instance_id ORDER BY live`,
  )
  expect(rows).toEqual([
    { instance_id: whole, live: 40, slots: 40 },
    { instance_id: half, live: 60, slots: 60 },
  ])
})

test('simultaneous dispatchers and starts keep the order and the capacity, and dispatch each request once', async () => {
  const ids: string[] = []
  for (let n = 0; n < 60; n += 1) ids.push(await submit({ priority: n % 3 }))
  await addInstance(database, 20)
  await addInstance(database, 20)
  await Promise.all([dispatchAll(), dispatchAll(), ...Array.from({ length: 5 }, () => submit({ priority: -1 }))])
  await dispatchAll()
  const { rows } = await database.query<{ priority: number; status: string; n: number }>(
    'SELECT priority, status, count(*) AS n FROM pending_requests GROUP BY 1, 2 ORDER BY 1 DESC, 2',
  )
  expect(rows).toEqual([
    { priority: 2, status: 'dispatched', n: 20 },
    { priority: 1, status: 'dispatched', n: 20 },
    { priority: 0, status: 'pending', n: 20 },
    { priority: -1, status: 'pending', n: 5 },
  ])
  const expected = [2, 1].flatMap((priority) => ids.filter((_, n) => n % 3 === priority))
  const order = await dispatchOrder()
  expect(new Set(order)).toEqual(new Set(expected))
  const { rows: leases } = await database.query(
    'SELECT count(*) AS live, count(DISTINCT deployment_id) AS runs FROM leases WHERE ended_at IS NULL',
  )
  expect(leases).toEqual([{ live: 40, runs: 40 }])
})

test('a dispatcher does not dispatch while another replica does, and dispatches after the other one has ended', async () => {
  const id = await submit()
  await addInstance(database, 1)
  let waiting: Promise<void> | undefined
  await database.transaction(async (tx) => {
    await tx.query(`SELECT pg_advisory_xact_lock(${LOCK_KEYS.admission})`)
    waiting = dispatchAll()
    expect(await Promise.race([waiting, setTimeout(100, 'waits')])).toBe('waits')
    expect((await pending(id)).status).toBe('pending')
  })
  await waiting
  expect((await pending(id)).status).toBe('dispatched')
})

test('a request with a disabled target fails with the reason, and the next request gets the slot', async () => {
  const own = await addCatalog(database)
  const command = startCommand(own)
  await startDeployment(database, command, { request_id: null })
  const next = await submit()
  await database.query('UPDATE targets SET enabled = false WHERE id = $1', [own.target_ids[1]])
  await addInstance(database, 1)
  await dispatchAll()
  const failed = await pending(command.command_id)
  expect(failed.status).toBe('failed')
  expect(failed.error_message).toContain(`target "target-${own.target_ids[1]}"`)
  expect(failed.error_message).not.toContain(`${own.target_ids[0]}`)
  expect((await pending(next)).status).toBe('dispatched')
})

test('each request of a batch fails only for its own deleted sources, targets, tenants and environments', async () => {
  const plans: [string | null, (plan: ReturnType<typeof startCommand>['plan']) => void][] = [
    ['action "release" 1.0.0', ({ source }) => Object.assign(source, { id: uuidv7() })],
    ['action "step 1" 1.0.1', ({ actions }) => Object.assign(actions[1] as object, { action_version: '1.0.1' })],
    ['target "other"', ({ targets }) => Object.assign(targets[1] as object, { id: uuidv7(), name: 'other' })],
    ['tenant "acme"', (plan) => Object.assign(plan, { tenant: { id: uuidv7(), name: 'acme' } })],
    ['environment "test"', (plan) => Object.assign(plan, { environment: { id: uuidv7(), name: 'test' } })],
    [null, () => {}],
  ]
  const commands = plans.map(([, spoil]) => {
    const command = startCommand(catalog)
    spoil(command.plan)
    return command
  })
  for (const command of commands) await startDeployment(database, command, { request_id: null })
  await addInstance(database, commands.length)
  await dispatchAll()
  const seen = await Promise.all(commands.map(async ({ command_id }) => (await pending(command_id)).error_message))
  const why = 'Since the request was queued these were deleted or disabled: '
  expect(seen).toEqual(plans.map(([gone]) => gone && why + gone))
})

test('a request that cannot be dispatched is retried five times and then fails; it does not delay other requests', async () => {
  const bad = await submit({ priority: 5 })
  const good = await submit()
  await database.query(
    `UPDATE pending_requests SET command = jsonb_set(command, '{plan,actions,0,timeout_seconds}', '"x"') WHERE id = $1`,
    [bad],
  )
  await addInstance(database, 2)
  const quiet = { ...logger, error: () => {} }
  const dispatchQuietly = () => dispatchQueue({ database: asDispatcher, logger: quiet, onCommitted: () => {} })
  await dispatchQuietly()
  expect((await pending(good)).status).toBe('dispatched')
  expect(await pending(bad)).toMatchObject({ status: 'pending', retry_count: 1 })
  for (let n = 2; n <= 5; n += 1) {
    await database.query(`UPDATE pending_requests SET last_retry_at = now() - interval '1 hour'`)
    await dispatchQuietly()
  }
  expect(await pending(bad)).toMatchObject({ status: 'failed', retry_count: 5, deployment_id: null })
})
