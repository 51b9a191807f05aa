import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createTestDatabase, type TestDatabase } from '@slipway/testing'
import { createDatabase, type Database, type Queryable } from '../src/index.ts'

let made: TestDatabase
let database: Database

beforeAll(async () => {
  made = await createTestDatabase()
  // One connection, so that what is wrongly left on it would show.
  database = createDatabase({ url: made.url, applicationName: 'test', tenant: '*', max: 1 })
  await database.query('CREATE TABLE noted (word text)')
})

afterAll(async () => {
  await database.close()
  await made.drop()
})

const noted = async () => (await database.query<{ word: string }>('SELECT word FROM noted ORDER BY 1', [])).rows

test('statements that are sent together run in their order', async () => {
  const read = await database.transaction(async (tx) => {
    const [, rows] = await Promise.all([
      tx.query('INSERT INTO noted VALUES ($1)', ['kept']),
      tx.query<{ word: string }>('SELECT word FROM noted', []),
    ])
    return rows.rows
  })
  expect(read).toEqual([{ word: 'kept' }])
})

test('what was to follow a statement of a transaction that failed does not run outside it', async () => {
  const late: Promise<unknown>[] = []
  const fails = async (tx: Queryable) => {
    const slow = tx.query('SELECT pg_sleep(0.05)')
    late.push(slow.then(() => tx.query('INSERT INTO noted VALUES ($1)', ['stray'])))
    await Promise.all([slow.then(() => undefined), tx.query('SELECT 1 / 0')])
  }
  await expect(database.transaction(fails)).rejects.toThrow('division by zero')
  await expect(
    database.transaction(async (tx) => {
      late.push(
        new Promise((resolve) => setTimeout(resolve, 100)).then(() => tx.query(`INSERT INTO noted VALUES ('late')`)),
      )
      throw new Error('given up')
    }),
  ).rejects.toThrow('given up')
  const results = await Promise.allSettled(late)
  expect(results.at(-1)?.status).toBe('rejected')
  expect(await noted()).toEqual([{ word: 'kept' }])
})

test('a connection that was lent for reading cannot be used afterwards', async () => {
  let kept: Queryable | undefined
  await database.together(async (connection) => {
    kept = connection
    await connection.query('SELECT 1')
  })
  await expect(kept?.query('SELECT 1')).rejects.toThrow('not lent any more')
})

test('a statement that failed to parse once works when it can', async () => {
  const read = () => database.query('SELECT count(*)::int AS n FROM not_yet WHERE n > $1', [0])
  await expect(read()).rejects.toThrow('not_yet')
  await database.query('CREATE TABLE not_yet (n int)')
  expect((await read()).rows).toEqual([{ n: 0 }])
  // Its shape changes under the prepared statement, as a migration may do beside running services.
  await database.query('ALTER TABLE not_yet ADD COLUMN m int')
  expect((await read()).rows).toEqual([{ n: 0 }])
})
