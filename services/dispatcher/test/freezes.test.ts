import { describe, expect, test } from '@jest/globals'
import { readRound } from '@slipway/database'
import { listItems } from '@slipway/database/read-models'
import { uuidv7 } from '@slipway/runtime'
import { testDatabase } from './database.ts'
import { ADMIN, addInstance, type Catalog, keys, startCommand, startDeployment } from './fixtures.ts'
import { requestsOf } from './requests.ts'

const db = await testDatabase()
const { database, catalog } = db
const { dispatchAll, submit, pending } = requestsOf(db)

test('a freeze holds only the requests that it covers; they are dispatched after its end', async () => {
  const held = await submit({ tenant: true, priority: 9 })
  const free = await submit()
  await database.query(
    `INSERT INTO freezes (id, name, start_time, end_time, tenant_id, updated_at)
     VALUES ($1, 'hold', now() - interval '1 hour', now() + interval '1 hour', $2, now())`,
    [uuidv7(), catalog.tenant_id],
  )
  await addInstance(database, 5)
  await dispatchAll()
  expect((await pending(held)).status).toBe('pending')
  expect((await pending(free)).status).toBe('dispatched')
  // A held request does not delay a new one.
  const fresh = await startDeployment(database, startCommand(catalog), { request_id: null })
  expect(fresh).toMatchObject({ outcome: 'started' })

  await database.query(`UPDATE freezes SET end_time = now() - interval '1 second'`)
  await dispatchAll()
  expect((await pending(held)).status).toBe('dispatched')
})

test('a recurring freeze holds requests in its windows and not between them', async () => {
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
    await dispatchAll()
    expect((await pending(id)).status).toBe('pending')
  }
  await setWindow('10 days')
  await dispatchAll()
  expect((await pending(id)).status).toBe('dispatched')
})

test('an override of the create applies at the dispatch, if the caller has the permission', async () => {
  const override = { tenant: true, freeze_override: { reason: 'hot fix' } }
  const may = await submit(override)
  const mayNot = await submit({ ...override, caller: { ...ADMIN, tenant_id: catalog.tenant_id } })
  await database.query(
    `INSERT INTO freezes (id, name, start_time, end_time, updated_at)
     VALUES ($1, 'everything', now() - interval '1 hour', now() + interval '1 hour', now())`,
    [uuidv7()],
  )
  await addInstance(database, 5)
  await dispatchAll()
  expect((await pending(may)).status).toBe('dispatched')
  expect((await pending(mayNot)).status).toBe('pending')
})

describe('a freeze of the environment or tenant of a target', () => {
  const addEnvironment = async (): Promise<string> => {
    const id = uuidv7()
    await database.query('INSERT INTO environments (id, name, updated_at) VALUES ($1, $1::uuid::text, now())', [id])
    return id
  }
  const addTarget = async (of: { tenant_id?: string; environment_id?: string }): Promise<string> => {
    const id = uuidv7()
    await database.query(
      `INSERT INTO targets (id, name, connection, tenant_id, environment_id) VALUES ($1, $1::uuid::text, '{"type":"local"}', $2, $3)`,
      [id, of.tenant_id ?? null, of.environment_id ?? null],
    )
    return id
  }
  const freeze = async (of: { tenant_id?: string; environment_id?: string }): Promise<string> => {
    const id = uuidv7()
    await database.query(
      `INSERT INTO freezes (id, name, start_time, end_time, tenant_id, environment_id)
       VALUES ($1, $1::uuid::text, now() - interval '1 hour', now() + interval '1 hour', $2, $3)`,
      [id, of.tenant_id ?? null, of.environment_id ?? null],
    )
    return id
  }
  const on = (...target_ids: string[]) => ({ ...catalog, target_ids })
  const statusOf = async (id: string) => (await pending(id)).status

  test('holds a request that does not name the environment or tenant, until the freeze ends', async () => {
    const environment_id = await addEnvironment()
    const [frozen, free] = [await addTarget({ environment_id }), await addTarget({})]
    const [held, ofTenant, other] = [
      await submit({}, on(free, frozen)),
      await submit({}, on(await addTarget({ tenant_id: catalog.tenant_id }))),
      await submit({}, on(free)),
    ]
    await freeze({ environment_id })
    await freeze({ tenant_id: catalog.tenant_id })
    await addInstance(database, 5)
    await dispatchAll()
    expect(await Promise.all([held, ofTenant, other].map(statusOf))).toEqual(['pending', 'pending', 'dispatched'])
    await database.query('DELETE FROM freezes')
    await dispatchAll()
    expect(await Promise.all([held, ofTenant].map(statusOf))).toEqual(['dispatched', 'dispatched'])
  })

  test('refuses a start whose freeze began after it was planned, and names the targets', async () => {
    const environment_id = await addEnvironment()
    const [frozen, free] = [await addTarget({ environment_id }), await addTarget({})]
    const id = await freeze({ environment_id })
    await addInstance(database, 5)
    const start = (of: Catalog) => startDeployment(database, startCommand(of), { request_id: null })
    await expect(start(on(free, frozen))).rejects.toMatchObject({
      code: 'DEPLOYMENT_FROZEN',
      details: { active_freezes: [{ id, target_ids: [frozen] }] },
    })
    expect(await start(on(free))).toMatchObject({ outcome: 'started' })
  })

  test('is evaluated at the dispatch: a target that was moved into the frozen environment holds its request', async () => {
    const environment_id = await addEnvironment()
    const target = await addTarget({})
    const id = await submit({}, on(target))
    await freeze({ environment_id })
    await database.query('UPDATE targets SET environment_id = $2 WHERE id = $1', [target, environment_id])
    await addInstance(database, 5)
    await dispatchAll()
    expect(await statusOf(id)).toBe('pending')
    await database.query('UPDATE targets SET environment_id = NULL WHERE id = $1', [target])
    await database.query('DELETE FROM freezes')
    await dispatchAll()
    expect(await statusOf(id)).toBe('dispatched')
  })
})

test('the dispatcher does not read the plans of held requests', async () => {
  const [held, next] = [await submit({ tenant: true, priority: 9 }), await submit()]
  await addInstance(database, 2)
  // Large and random, so Postgres stores the plan outside of the row (TOAST), where reads are counted.
  await database.query(
    `UPDATE pending_requests SET command = jsonb_set(command, '{plan,ballast}', to_jsonb(
       (SELECT string_agg(md5(random()::text), '') FROM generate_series(1, 500))))`,
  )
  await database.query(
    `INSERT INTO freezes (id, name, start_time, end_time, tenant_id)
     VALUES ($1, 'hold', now() - interval '1 hour', now() + interval '1 hour', $2)`,
    [uuidv7(), catalog.tenant_id],
  )
  const { found, listed, read, control } = await database.transaction(async (tx) => {
    const soFar = async () => {
      const { rows } = await tx.query<{ read: number }>(
        `SELECT t.seq_tup_read + t.idx_tup_fetch AS read FROM pg_stat_xact_sys_tables t
           JOIN pg_class c ON c.reltoastrelid = t.relid WHERE c.relname = 'pending_requests'`,
        [],
      )
      return rows[0]?.read ?? Number.NaN
    }
    const before = await soFar()
    const { requests } = await readRound(tx, { arrivals: [], heldOrphans: [] })
    const items = await listItems({ db: tx, keys, viewer: ADMIN }, 'pending', [held, next])
    const after = await soFar()
    await tx.query('SELECT max(length(command::text)) FROM pending_requests', [])
    return { found: requests, listed: items.get(held), read: after - before, control: (await soFar()) - after }
  })
  expect(found.map(({ id }) => id)).toEqual([next])
  expect(listed).toMatchObject({ waiting_for: 'freeze' })
  expect(read).toBe(0)
  expect(control).toBeGreaterThan(0)
})
