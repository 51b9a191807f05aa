import { afterEach, describe, expect, test } from '@jest/globals'
import type { Database, Queryable } from '@slipway/database'
import { uuidv7 } from '@slipway/runtime'
import { testLogger as logger, waitFor } from '@slipway/testing'
import type pg from 'pg'
import { dispatchQueue } from '../src/dispatch/dispatch-queue.ts'
import { createStarter } from '../src/dispatch/starter.ts'
import { lockAdmission } from '../src/locks/admission.sql.ts'
import { testDatabase } from './database.ts'
import { addInstance, liveLease, startCommand, startDeployment, stepStates } from './fixtures.ts'
import { requestsOf } from './requests.ts'
import { targetsOf } from './targets.ts'

const db = await testDatabase()
const { database, asDispatcher, catalog } = db
const { dispatchAll, pending } = requestsOf(db)
const { addTargets, command: commandFor } = targetsOf(db)

/** A dispatcher that tells each statement before it is sent, by its name. The statements stay in their order. */
function watched(before: (name: string) => Promise<unknown> | undefined): Database {
  return {
    ...asDispatcher,
    transaction: (work) =>
      asDispatcher.transaction((tx) => {
        let told: Promise<unknown> = Promise.resolve()
        const query: Queryable['query'] = (statement, values) => {
          told = told.then(() => before((statement as pg.QueryConfig).name ?? ''))
          return told.then(() => tx.query(statement, values))
        }
        return work({ ...tx, query })
      }),
  }
}

const startBy = (by: Database, command: ReturnType<typeof startCommand>) =>
  createStarter({ database: by, logger })(command, { request_id: null })

describe('a decision whose rows have moved', () => {
  const drain = (id: string) => database.query('UPDATE instances SET draining = true WHERE id = $1', [id])

  test('is made again: an instance that drains since the snapshot gets no run', async () => {
    const [first, second] = [await addInstance(database, 9), await addInstance(database, 3)]
    const command = startCommand(catalog)
    const by = watched((name) => (name === 'dispatcher.leases.add' ? drain(first) : undefined))
    expect(await startBy(by, command)).toMatchObject({ outcome: 'started' })
    expect(await liveLease(database, command.command_id)).toMatchObject({ instance_id: second })
  })

  test('is made again if the labels of the instance have changed', async () => {
    const instance = await addInstance(database, 1)
    await database.query(`UPDATE instances SET labels = '{"zone":"a"}'`)
    const command = startCommand(catalog, { selector: { match_labels: { zone: 'a' } } })
    const by = watched((name) =>
      name === 'dispatcher.leases.add' ? database.query(`UPDATE instances SET labels = '{"zone":"b"}'`) : undefined,
    )
    expect(await startBy(by, command)).toMatchObject({ outcome: 'queued' })
    expect(await liveLease(database, instance)).toBeNull()
  })

  test('is made again if the instance serves another tenant alone now', async () => {
    await addInstance(database, 1)
    const command = startCommand(catalog)
    const by = watched((name) =>
      name === 'dispatcher.leases.add'
        ? database.query('UPDATE instances SET tenant_id = $1', [catalog.tenant_id])
        : undefined,
    )
    expect(await startBy(by, command)).toMatchObject({ outcome: 'queued' })
  })

  test('is made three times more at most; then the request waits', async () => {
    for (let n = 0; n < 9; n += 1) await addInstance(database, 9 - n)
    const command = startCommand(catalog)
    let tries = 0
    const by = watched((name) => {
      if (name !== 'dispatcher.leases.add') return undefined
      tries += 1
      return database.query(
        'UPDATE instances SET draining = true WHERE capacity = (SELECT max(capacity) FROM instances WHERE NOT draining)',
      )
    })
    expect(await startBy(by, command)).toMatchObject({ outcome: 'queued' })
    expect(tries).toBe(3)
    await dispatchAll()
    expect((await pending(command.command_id)).status).toBe('dispatched')
  })
})

test('Postgres ends the session of a dispatcher that vanishes while it decides, and others go on', async () => {
  await addInstance(database, 1)
  const gone = await asDispatcher.pool.connect()
  const lost = new Promise((resolve) => gone.once('error', resolve))
  await gone.query('BEGIN')
  await lockAdmission.run(gone, { command_ids: [] })
  const { rows } = await gone.query('SHOW idle_in_transaction_session_timeout')
  expect(rows).toEqual([{ idle_in_transaction_session_timeout: '5s' }])
  const command = startCommand(catalog)
  const started = startDeployment(database, command, { request_id: null })
  await waitFor(
    async () =>
      (await database.query(`SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`)).rowCount === 1,
    { what: 'the start waits for the lock' },
  )
  // The same, sooner.
  await gone.query('SET LOCAL idle_in_transaction_session_timeout = 100')
  expect(await started).toMatchObject({ outcome: 'started' })
  expect(await lost).toMatchObject({ code: '25P03' })
  gone.release(true)
})

describe('a plan of more than 1,000 steps', () => {
  const targets: string[] = []
  async function largeCommand(priority = 0): Promise<ReturnType<typeof startCommand>> {
    if (targets.length === 0) {
      const { rows } = await database.query<{ id: string }>(
        `INSERT INTO targets (id, name, connection, updated_at)
         SELECT gen_random_uuid(), 'large ' || n, '{"type":"local"}', now() FROM generate_series(1, 400) n RETURNING id`,
      )
      targets.push(...rows.map(({ id }) => id))
    }
    return startCommand({ ...catalog, target_ids: targets }, { priority })
  }

  test('is written before others must wait, and starts', async () => {
    await addInstance(database, 1)
    const command = await largeCommand()
    const sent: string[] = []
    const by = watched((name) => {
      sent.push(name)
      return undefined
    })
    expect(await startBy(by, command)).toMatchObject({ outcome: 'started' })
    expect(await stepStates(database, command.command_id)).toHaveLength(1_200)
    const written = sent.indexOf('dispatcher.steps.insert')
    expect(written).toBeGreaterThan(-1)
    expect(written).toBeLessThan(sent.indexOf('dispatcher.admission.lock'))
  })

  test('is not written if it waits, and starts from the queue later', async () => {
    const command = await largeCommand()
    expect(await startDeployment(database, command, { request_id: null })).toMatchObject({ outcome: 'queued' })
    expect((await database.query('SELECT FROM steps')).rowCount).toBe(0)
    await addInstance(database, 1)
    await dispatchAll()
    expect((await pending(command.command_id)).status).toBe('dispatched')
    expect(await stepStates(database, command.command_id)).toHaveLength(1_200)
  })

  test('is taken back if its slot is gone when it is written', async () => {
    const instance = await addInstance(database, 1)
    const command = await largeCommand()
    const by = watched((name) =>
      name === 'dispatcher.steps.insert'
        ? database.query('INSERT INTO leases (instance_id, slot, deployment_id) VALUES ($1, 0, $2)', [
            instance,
            uuidv7(),
          ])
        : undefined,
    )
    expect(await startBy(by, command)).toMatchObject({ outcome: 'queued' })
    expect((await database.query('SELECT FROM steps')).rowCount).toBe(0)
    expect((await pending(command.command_id)).status).toBe('pending')
  })

  test('of the queue is not written if a record of it is gone: the request fails, and its slot goes to the next one', async () => {
    const [large, small] = [await largeCommand(1), startCommand(catalog)]
    for (const command of [large, small]) await startDeployment(database, command, { request_id: null })
    await database.query('UPDATE targets SET enabled = false WHERE id = $1', [targets[0]])
    await addInstance(database, 1)
    await dispatchAll()
    await database.query('UPDATE targets SET enabled = true')
    expect([await pending(large.command_id), await pending(small.command_id)]).toMatchObject([
      { status: 'failed' },
      { status: 'dispatched' },
    ])
    const { rows } = await database.query('SELECT id FROM deployments')
    expect(rows).toEqual([{ id: small.command_id }])
  })

  test('of the queue starts although a target has got a policy since', async () => {
    const command = await largeCommand()
    await startDeployment(database, command, { request_id: null })
    await database.query(`UPDATE targets SET concurrency = 'queue' WHERE id = $1`, [targets[0]])
    await addInstance(database, 1)
    await dispatchAll()
    await database.query('UPDATE targets SET concurrency = NULL')
    expect((await pending(command.command_id)).status).toBe('dispatched')
    expect((await database.query('SELECT target_id FROM target_locks')).rows).toEqual([{ target_id: targets[0] }])
  })

  test('keeps its slot from requests behind it', async () => {
    const [large, small] = [await largeCommand(1), startCommand(catalog)]
    await startDeployment(database, large, { request_id: null })
    await addInstance(database, 1)
    expect(await startDeployment(database, small, { request_id: null })).toMatchObject({ outcome: 'queued' })
    await dispatchAll()
    expect([await pending(large.command_id), await pending(small.command_id)]).toMatchObject([
      { status: 'dispatched' },
      { status: 'pending' },
    ])
  })
})

test('a repeated command finds its request queued, although the request starts in the same round', async () => {
  const command = startCommand(catalog)
  await startDeployment(database, command, { request_id: null })
  await addInstance(database, 2)
  expect(await startDeployment(database, command, { request_id: null })).toMatchObject({ outcome: 'queued' })
  expect((await pending(command.command_id)).status).toBe('dispatched')
  expect((await database.query('SELECT FROM leases')).rowCount).toBe(1)
})

test('two starts that come together and replace each other are decided one after the other', async () => {
  await addTargets({ z: 'supersede' })
  const starter = createStarter({ database: asDispatcher, logger })
  const [older, newer] = [commandFor('z'), commandFor('z')]
  const outcomes = await Promise.all([older, newer].map((command) => starter(command, { request_id: null })))
  expect(outcomes).toMatchObject([{ outcome: 'queued' }, { outcome: 'queued' }])
  expect(await pending(older.command_id)).toMatchObject({ status: 'cancelled', superseded_by: newer.command_id })
  await addInstance(database, 1)
  await dispatchQueue({ database: asDispatcher, logger, onCommitted() {} })
  expect((await pending(newer.command_id)).status).toBe('dispatched')
})

afterEach(() => database.query('DELETE FROM target_locks'))
