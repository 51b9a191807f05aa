import { expect, test } from '@jest/globals'
import { uuidv7 } from '@slipway/runtime'
import { testDatabase } from './database.ts'
import { ADMIN, addInstance, startCommand, startDeployment } from './fixtures.ts'
import { requestsOf } from './requests.ts'

const db = await testDatabase()
const { database, catalog } = db
const { drainAll, submit, pending } = requestsOf(db)

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
