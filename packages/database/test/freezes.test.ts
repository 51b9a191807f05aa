import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { createDatabase, type Database, forTenant, readFreezes } from '@slipway/database'
import { createTestDatabase, type TestDatabase } from '@slipway/testing'

let made: TestDatabase
let all: Database
let ofCallers: Database
const TENANTS = [randomUUID(), randomUUID()]

beforeAll(async () => {
  made = await createTestDatabase()
  all = createDatabase({ url: made.url, applicationName: 'test', tenant: '*' })
  ofCallers = createDatabase({ url: made.url, applicationName: 'test', max: 2 })
  for (const id of TENANTS) {
    await all.query('INSERT INTO tenants (id, name, slug) VALUES ($1, $2, $2)', [id, id])
  }
})
afterAll(async () => {
  await ofCallers.close()
  await all.close()
  await made.drop()
})
beforeEach(() => all.query('DELETE FROM freezes'))

async function addFreeze(name: string, more: { tenant_id?: string | null; recurrence?: string } = {}): Promise<string> {
  const id = randomUUID()
  await all.query(
    `INSERT INTO freezes (id, name, start_time, end_time, recurrence, tenant_id)
     VALUES ($1, $2, now() - interval '1 hour', now() + interval '1 hour', $3, $4)`,
    [id, name, more.recurrence ?? null, more.tenant_id ?? null],
  )
  return id
}
const inForce = async (db = all) => {
  const { freezes, now } = await readFreezes(db)
  return freezes.presentAt(now).map(({ name }) => name)
}

test('every change of a freeze is visible to the next reader', async () => {
  expect(await inForce()).toEqual([])
  const id = await addFreeze('a')
  expect(await inForce()).toEqual(['a'])
  await all.query(`UPDATE freezes SET name = 'b' WHERE id = $1`, [id])
  expect(await inForce()).toEqual(['b'])
  await all.query('DELETE FROM freezes WHERE id = $1', [id])
  expect(await inForce()).toEqual([])
  await addFreeze('c')
  expect(await inForce()).toEqual(['c'])
  await all.query('TRUNCATE freezes')
  expect(await inForce()).toEqual([])
})

test('an uncommitted change is visible only to its own transaction', async () => {
  await expect(
    all.transaction(async (tx) => {
      await tx.query(
        `INSERT INTO freezes (id, name, start_time, end_time) VALUES ($1, 'x', now() - interval '1 hour', now() + interval '1 hour')`,
        [randomUUID()],
      )
      const { freezes, now } = await readFreezes(tx)
      expect(freezes.presentAt(now)).toHaveLength(1)
      expect(await inForce()).toEqual([])
      throw new Error('changed its mind')
    }),
  ).rejects.toThrow('changed its mind')
  expect(await inForce()).toEqual([])
})

test('the rows are not read again until a freeze changes', async () => {
  await addFreeze('a', { recurrence: 'FREQ=DAILY' })
  const { freezes } = await readFreezes(all)
  expect((await readFreezes(all)).freezes).toBe(freezes)
})

test('the freezes of one viewer are not visible to another', async () => {
  const [a = '', b = ''] = TENANTS
  await addFreeze('of a', { tenant_id: a })
  await addFreeze('of b', { tenant_id: b })
  await addFreeze('of all')
  const seenBy = (tenant: string | null) => forTenant(tenant, async () => (await inForce(ofCallers)).sort())
  for (let round = 0; round < 2; round += 1) {
    expect(await seenBy(null)).toEqual(['of a', 'of all', 'of b'])
    expect(await seenBy(a)).toEqual(['of a', 'of all'])
    expect(await seenBy(b)).toEqual(['of all', 'of b'])
  }
})

test('an ended recurrence is not read', async () => {
  const id = await addFreeze('a', { recurrence: 'FREQ=DAILY' })
  const move = `start_time = start_time - interval '1 day', end_time = end_time - interval '1 day'`
  await all.query(`UPDATE freezes SET ${move}, recurs_until = now() - interval '1 hour' WHERE id = $1`, [id])
  expect(await inForce()).toEqual([])
})
