import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { Database } from '@slipway/database'
import { uuidv7 } from '@slipway/runtime'
import { type OpenTestDatabase, openTestDatabase, testLogger } from '@slipway/testing'
import { finishDeployment } from '../src/deployments/finish.ts'
import { insertLeases, lockFreeSlots } from '../src/leases/allocate.ts'
import { sweep } from '../src/leases/sweep.ts'
import { cancelPending } from '../src/pending/cancel.ts'
import { DRAIN_LOCK, drain } from '../src/pending/drain.ts'
import {
  ADMIN,
  addCatalog,
  addInstance,
  type Catalog,
  type CommandOptions,
  clear,
  deployment,
  liveLease,
  loseInstance,
  outbox,
  setStep,
  startCommand,
  startDeployment,
  states,
  stepStates,
} from './fixtures.ts'

let server: OpenTestDatabase
let database: Database
let catalog: Catalog
const logger = testLogger

beforeAll(async () => {
  server = await openTestDatabase()
  database = server.database
  catalog = await addCatalog(database)
})
afterAll(() => server.drop())
beforeEach(() => clear(database))

const drainAll = () => drain({ database, logger, onCommitted: () => {} })

async function submit(options: CommandOptions = {}): Promise<string> {
  const command = startCommand(catalog, options)
  await startDeployment(database, command, { request_id: `request-${command.command_id}` })
  return command.command_id
}

interface Pending {
  id: string
  status: string
  deployment_id: string | null
  dispatched_to_instance_id: string | null
  error_message: string | null
  retry_count: number
}

async function pending(id: string): Promise<Pending> {
  const { rows } = await database.query<Pending>('SELECT * FROM pending_requests WHERE id = $1', [id])
  if (!rows[0]) throw new Error(`no pending request ${id}`)
  return rows[0]
}

async function dispatchOrder(): Promise<string[]> {
  const { rows } = await database.query<{ id: string }>(
    `SELECT p.id FROM pending_requests p JOIN leases l ON l.deployment_id = p.deployment_id ORDER BY l.epoch`,
  )
  return rows.map(({ id }) => id)
}

describe('drain', () => {
  test('dispatches by priority, then age, as slots become free', async () => {
    const low = await submit({ priority: -5 })
    const old = await submit()
    const young = await submit()
    const urgent = await submit({ priority: 50 })
    const instance = await addInstance(database, 1)
    for (const id of [urgent, old, young, low]) {
      await drainAll()
      const request = await pending(id)
      expect(request).toMatchObject({ status: 'dispatched', dispatched_to_instance_id: instance })
      const deploymentId = String(request.deployment_id)
      const lease = await liveLease(database, deploymentId)
      await finishDeployment(database, {
        deployment_id: deploymentId,
        epoch: lease?.epoch ?? 0,
        outcome: 'success',
        error_message: null,
      })
    }
    expect(await dispatchOrder()).toEqual([urgent, old, young, low])
  })

  test('a dispatched request has a deployment of its own that was queued first, under its own request id', async () => {
    const id = await submit()
    await addInstance(database, 1)
    await drainAll()
    const request = await pending(id)
    const deploymentId = String(request.deployment_id)
    expect(deploymentId).not.toBe(id)
    expect(await states(database, deploymentId)).toEqual(['queued', 'running'])
    expect(await deployment(database, deploymentId)).toMatchObject({ request_id: `request-${id}`, total_steps: 6 })
    expect(await outbox(database, deploymentId)).toEqual(['run.start', 'deployment.created'])
    expect(await outbox(database, id)).toEqual(['pending.created', 'pending.updated'])
    const { rows } = await database.query(
      `SELECT DISTINCT request_id FROM outbox WHERE body ->> 'deployment_id' = $1`,
      [deploymentId],
    )
    expect(rows).toEqual([{ request_id: `request-${id}` }])
  })

  test('a new request waits behind those of the same priority and passes those of a lower one', async () => {
    await submit({ priority: 0 })
    await addInstance(database, 1)
    const same = startCommand(catalog, { priority: 0 })
    expect(await startDeployment(database, same, { request_id: null })).toMatchObject({ outcome: 'queued' })
    const higher = startCommand(catalog, { priority: 1 })
    expect(await startDeployment(database, higher, { request_id: null })).toMatchObject({ outcome: 'started' })
  })

  test('a long queue fills the free slots of all instances that take runs, in order, and no more', async () => {
    const ids: string[] = []
    for (let n = 0; n < 120; n += 1) ids.push(await submit())
    const [half, whole, draining] = [
      await addInstance(database, 60),
      await addInstance(database, 40),
      await addInstance(database, 40),
    ]
    await database.query('UPDATE instances SET draining = true WHERE id = $1', [draining])
    // Every other slot of the first is taken.
    const taken = Array.from({ length: 30 }, (_, n) => 2 * n)
    await insertLeases(
      database,
      taken.map((slot) => ({ slot: { instance_id: half, instance_name: 'half', slot }, deployment_id: uuidv7() })),
    )
    await Promise.all([drainAll(), drainAll()])
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

  test('several drainers and starters at once keep order and capacity, and dispatch each once', async () => {
    const ids: string[] = []
    for (let n = 0; n < 60; n += 1) ids.push(await submit({ priority: n % 3 }))
    await addInstance(database, 20)
    await addInstance(database, 20)
    await Promise.all([drainAll(), drainAll(), ...Array.from({ length: 5 }, () => submit({ priority: -1 }))])
    await drainAll()
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

  test('while another replica drains it leaves the queue alone, and looks again when that has ended', async () => {
    const id = await submit()
    await addInstance(database, 1)
    let waiting: Promise<void> | undefined
    await database.transaction(async (tx) => {
      await tx.query('SELECT pg_advisory_xact_lock($1, $2)', DRAIN_LOCK)
      await drainAll()
      expect((await pending(id)).status).toBe('pending')
      waiting = drainAll()
    })
    await waiting
    expect((await pending(id)).status).toBe('dispatched')
  })

  test('a freeze holds its requests and nobody else; its end lets them go', async () => {
    const held = await submit({ tenant: true, priority: 9 })
    const free = await submit()
    await database.query(
      `INSERT INTO freezes (id, name, start_time, end_time, tenant_id, updated_at)
       VALUES ($1, 'hold', now() - interval '1 hour', now() + interval '1 hour', $2, now())`,
      [uuidv7(), catalog.tenant_id],
    )
    await addInstance(database, 5)
    await drainAll()
    expect((await pending(held)).status).toBe('pending')
    expect((await pending(free)).status).toBe('dispatched')
    // A held request is not in the way of a new one.
    const fresh = await startDeployment(database, startCommand(catalog), { request_id: null })
    expect(fresh).toMatchObject({ outcome: 'started' })

    await database.query(`UPDATE freezes SET end_time = now() - interval '1 second'`)
    await drainAll()
    expect((await pending(held)).status).toBe('dispatched')
  })

  test('a freeze that comes again holds requests too, and lets them go between its windows', async () => {
    const id = await submit()
    const setWindow = (since: string) =>
      database.query(
        `UPDATE freezes SET start_time = now() - $1::interval - interval '1 hour', end_time = now() - $1::interval + interval '1 hour'`,
        [since],
      )
    await database.query(
      `INSERT INTO freezes (id, name, start_time, end_time, recurrence, start_offset, updated_at)
       VALUES ($1, 'weekly', now(), now() + interval '1 hour', 'FREQ=WEEKLY', '-05:00', now())`,
      [uuidv7()],
    )
    await addInstance(database, 5)
    for (const since of ['7 days', '700 days']) {
      await setWindow(since)
      await drainAll()
      expect((await pending(id)).status).toBe('pending')
    }
    await setWindow('10 days')
    await drainAll()
    expect((await pending(id)).status).toBe('dispatched')
  })

  test('an override given at creation holds through the queue, where the caller may', async () => {
    const override = { tenant: true, freeze_override: { reason: 'hot fix' } }
    const may = await submit(override)
    const mayNot = await submit({ ...override, caller: { ...ADMIN, tenant_id: catalog.tenant_id } })
    await database.query(
      `INSERT INTO freezes (id, name, start_time, end_time, updated_at)
       VALUES ($1, 'everything', now() - interval '1 hour', now() + interval '1 hour', now())`,
      [uuidv7()],
    )
    await addInstance(database, 5)
    await drainAll()
    expect((await pending(may)).status).toBe('dispatched')
    expect((await pending(mayNot)).status).toBe('pending')
  })

  test('a request whose target is gone fails with the reason and leaves the slot to the next', async () => {
    const own = await addCatalog(database)
    const command = startCommand(own)
    await startDeployment(database, command, { request_id: null })
    const next = await submit()
    await database.query('UPDATE targets SET enabled = false WHERE id = $1', [own.target_ids[1]])
    await addInstance(database, 1)
    await drainAll()
    const failed = await pending(command.command_id)
    expect(failed.status).toBe('failed')
    expect(failed.error_message).toContain(`target "target-${own.target_ids[1]}"`)
    expect(failed.error_message).not.toContain(`${own.target_ids[0]}`)
    expect((await pending(next)).status).toBe('dispatched')
  })

  test('one request that cannot be written keeps no other waiting and is tried again, then given up', async () => {
    const bad = await submit({ priority: 5 })
    const good = await submit()
    await database.query(
      `UPDATE pending_requests SET command = jsonb_set(command, '{plan,actions,0,timeout_seconds}', '"x"') WHERE id = $1`,
      [bad],
    )
    await addInstance(database, 2)
    const quiet = { ...logger, error: () => {} }
    const drainQuietly = () => drain({ database, logger: quiet, onCommitted: () => {} })
    await drainQuietly()
    expect((await pending(good)).status).toBe('dispatched')
    expect(await pending(bad)).toMatchObject({ status: 'pending', retry_count: 1 })
    for (let n = 2; n <= 5; n += 1) {
      await database.query(`UPDATE pending_requests SET last_retry_at = now() - interval '1 hour'`)
      await drainQuietly()
    }
    expect(await pending(bad)).toMatchObject({ status: 'failed', retry_count: 5, deployment_id: null })
  })
})

describe('pending.cancel', () => {
  test('takes the request out of the queue; a second one is a conflict', async () => {
    const id = await submit()
    const cancel = () =>
      cancelPending(database, { pending_request_id: id, caller: ADMIN }, { command_id: uuidv7(), request_id: null })
    expect(await cancel()).toEqual({ pending_request_id: id })
    await addInstance(database, 1)
    await drainAll()
    expect((await pending(id)).status).toBe('cancelled')
    await expect(cancel()).rejects.toMatchObject({ code: 'CONFLICT' })
    await expect(
      cancelPending(
        database,
        { pending_request_id: uuidv7(), caller: ADMIN },
        { command_id: uuidv7(), request_id: null },
      ),
    ).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  test('against dispatch exactly one wins', async () => {
    const ids: string[] = []
    for (let n = 0; n < 10; n += 1) ids.push(await submit())
    await addInstance(database, 10)
    const cancelled = ids.map((id) =>
      cancelPending(
        database,
        { pending_request_id: id, caller: ADMIN },
        { command_id: uuidv7(), request_id: null },
      ).then(
        () => true,
        () => false,
      ),
    )
    await drainAll()
    const hasWon = await Promise.all(cancelled)
    for (const [index, id] of ids.entries()) {
      const { status, deployment_id } = await pending(id)
      expect([status, deployment_id === null]).toEqual(hasWon[index] ? ['cancelled', true] : ['dispatched', false])
    }
  })
})

test('a lease begins when it is taken, however long ago the transaction did: the slot may have become free since', async () => {
  await addInstance(database, 1)
  const id = await submit()
  await database.transaction(async (tx) => {
    await tx.query('SELECT 1')
    const lease = await liveLease(database, id)
    const end = { deployment_id: id, epoch: lease?.epoch ?? 0, outcome: 'success', error_message: null } as const
    expect(await finishDeployment(database, end)).toBe(true)
    const slots = await lockFreeSlots(tx, 1)
    await insertLeases(
      tx,
      slots.map((slot) => ({ slot, deployment_id: id })),
    )
  })
  const { rows } = await database.query('SELECT acquired_at, ended_at FROM leases ORDER BY epoch')
  expect(rows).toHaveLength(2)
  expect(rows[1]?.['acquired_at'].getTime()).toBeGreaterThanOrEqual(rows[0]?.['ended_at'].getTime())
})

describe('sweep', () => {
  async function running(options: CommandOptions = {}): Promise<{ id: string; epoch: number; instance_id: string }> {
    const id = await submit(options)
    const lease = await liveLease(database, id)
    if (!lease) throw new Error('not started')
    return { id, ...lease }
  }

  test('a run whose instance is lost goes on elsewhere under a higher epoch, its steps resolved', async () => {
    const lost = await addInstance(database, 1)
    const { id, epoch } = await running({ max_retries: 1 })
    await setStep(database, id, [0, 0], 'completed')
    await setStep(database, id, [0, 1], 'running', 0)
    await setStep(database, id, [1, 0], 'running', 1)
    await loseInstance(database, lost)
    expect(await sweep(database, logger)).toBe(true)
    expect(await liveLease(database, id)).toBeNull()

    const other = await addInstance(database, 1)
    const waiting = await submit({ priority: 100 })
    await drainAll()
    const lease = await liveLease(database, id)
    expect(lease?.instance_id).toBe(other)
    expect(lease?.epoch).toBeGreaterThan(epoch)
    expect((await pending(waiting)).status).toBe('pending')
    const { rows } = await database.query(
      `SELECT state, retry_count, ever_failed, error_message FROM steps
        WHERE deployment_id = $1 AND (target_index, action_index) IN ((0, 0), (0, 1), (1, 0)) ORDER BY target_index, action_index`,
      [id],
    )
    expect(rows).toEqual([
      { state: 'completed', retry_count: 0, ever_failed: false, error_message: null },
      { state: 'pending', retry_count: 1, ever_failed: false, error_message: null },
      {
        state: 'failed',
        retry_count: 1,
        ever_failed: true,
        error_message: 'the instance was lost while the command ran',
      },
    ])
    const { rows: starts } = await database.query<{ epoch: number }>(
      `SELECT (body ->> 'epoch')::int AS epoch FROM outbox WHERE type = 'run.start' AND body ->> 'deployment_id' = $1 ORDER BY id`,
      [id],
    )
    expect(starts.map((start) => start.epoch)).toEqual([epoch, lease?.epoch])
    expect(
      await finishDeployment(database, { deployment_id: id, epoch, outcome: 'success', error_message: null }),
    ).toBe(false)
  })

  test('steps that were being rolled back stay so, to be rolled back again', async () => {
    const lost = await addInstance(database, 1)
    const { id } = await running()
    await database.query(`UPDATE deployments SET state = 'rolling_back' WHERE id = $1`, [id])
    await setStep(database, id, [0, 0], 'rolling_back')
    await loseInstance(database, lost)
    await sweep(database, logger)
    await addInstance(database, 1)
    await drainAll()
    expect(await liveLease(database, id)).not.toBeNull()
    expect((await stepStates(database, id))[0]).toBe('rolling_back')
  })

  test('a cancelled orphan is not taken up again', async () => {
    const lost = await addInstance(database, 1)
    const { id } = await running()
    await loseInstance(database, lost)
    await sweep(database, logger)
    const { cancelDeployment } = await import('../src/deployments/cancel.ts')
    await addInstance(database, 1)
    await Promise.all([
      cancelDeployment(database, { deployment_id: id, caller: ADMIN }, { command_id: uuidv7(), request_id: null }),
      drainAll(),
    ])
    await drainAll()
    expect((await deployment(database, id)).state).toBe('cancelled')
    expect(await liveLease(database, id)).toBeNull()
  })

  test('what its instance does not end in time is failed, its lease ended, the instance told', async () => {
    await addInstance(database, 1)
    const { id } = await running({ deployment_timeout_seconds: 5 })
    await setStep(database, id, [0, 0], 'running')
    await database.query(`UPDATE deployments SET deadline_at = now() - interval '59 seconds' WHERE id = $1`, [id])
    expect(await sweep(database, logger)).toBe(false)
    await database.query(`UPDATE deployments SET deadline_at = now() - interval '61 seconds' WHERE id = $1`, [id])
    expect(await sweep(database, logger)).toBe(true)
    expect(await deployment(database, id)).toMatchObject({
      state: 'failed',
      error_message: 'The deployment ran out of its time',
    })
    expect(await stepStates(database, id)).toEqual(['failed', ...Array(5).fill('skipped')])
    expect(await liveLease(database, id)).toBeNull()
    expect(await outbox(database, id)).toContain('run.stop')
  })

  test('a run whose end was told to nobody ends as its instance said', async () => {
    await addInstance(database, 2)
    const [one, two] = [await running(), await running()]
    const told = (id: string, epoch: number, seconds: number) =>
      database.query(
        `INSERT INTO run_progress (deployment_id, epoch, finished_at, finished_outcome, finished_error)
         VALUES ($1, $2, now() - make_interval(secs => $3), 'failed', 'disk full')`,
        [id, epoch, seconds],
      )
    // Of an epoch that is over, and one of which the message may still come.
    await told(one.id, one.epoch - 1, 60)
    await told(two.id, two.epoch, 4)
    expect(await sweep(database, logger)).toBe(false)
    await database.query(`UPDATE run_progress SET finished_at = now() - interval '6 seconds'`)
    expect(await sweep(database, logger)).toBe(true)
    expect(await states(database, two.id)).toEqual(['running', 'failed'])
    expect(await deployment(database, two.id)).toMatchObject({ state: 'failed', error_message: 'disk full' })
    expect(await liveLease(database, two.id)).toBeNull()
    expect((await deployment(database, one.id)).state).toBe('running')
    expect(await sweep(database, logger)).toBe(false)
  })

  test('a lease that outlived its deployment ends', async () => {
    await addInstance(database, 1)
    const { id } = await running()
    await database.query(`UPDATE deployments SET state = 'success', completed_at = now() WHERE id = $1`, [id])
    expect(await sweep(database, logger)).toBe(true)
    expect(await liveLease(database, id)).toBeNull()
  })
})
