import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createTestDatabase, type TestDatabase, waitFor } from '@slipway/testing'
import { attempt, createDatabase, type Database, isBusy, isConnectionError, type Queryable } from '../src/index.ts'

let made: TestDatabase
let database: Database

beforeAll(async () => {
  made = await createTestDatabase()
  // With one connection, every later statement sees what an earlier one leaves behind.
  database = createDatabase({ url: made.url, applicationName: 'test', tenant: '*', max: 1 })
  await database.query('CREATE TABLE noted (word text)')
})

afterAll(async () => {
  await database.close()
  await made.drop()
})

const noted = async () => (await database.query<{ word: string }>('SELECT word FROM noted ORDER BY 1', [])).rows

test('statements that are sent together run in order', async () => {
  const read = await database.transaction(async (tx) => {
    const [, rows] = await Promise.all([
      tx.query('INSERT INTO noted VALUES ($1)', ['kept']),
      tx.query<{ word: string }>('SELECT word FROM noted', []),
    ])
    return rows.rows
  })
  expect(read).toEqual([{ word: 'kept' }])
})

test('a statement after the failure of its transaction does not run outside the transaction', async () => {
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

test('an attempt is undone as a whole, also if an attempt inside it has failed', async () => {
  const failing = (tx: Queryable, work: (tx: Queryable) => Promise<unknown>) =>
    attempt(tx, async (inner) => {
      await work(inner)
      throw new Error('taken back')
    }).catch(() => {})
  const left = await database.transaction(async (tx) => {
    await tx.query('CREATE TEMP TABLE attempts (n int) ON COMMIT DROP')
    await failing(tx, async (outer) => {
      await outer.query('INSERT INTO attempts VALUES (1)')
      await failing(outer, (inner) => inner.query('INSERT INTO attempts VALUES (2)'))
    })
    return (await tx.query('SELECT n FROM attempts')).rows
  })
  expect(left).toEqual([])
})

test('a connection that was lent for reading cannot be used after it was returned', async () => {
  let kept: Queryable | undefined
  await database.together(async (connection) => {
    kept = connection
    await connection.query('SELECT 1')
  })
  await expect(kept?.query('SELECT 1')).rejects.toThrow('returned before this statement')
})

test('a statement that failed to parse succeeds once its table exists', async () => {
  const read = () => database.query('SELECT count(*)::int AS n FROM not_yet WHERE n > $1', [0])
  await expect(read()).rejects.toThrow('not_yet')
  await database.query('CREATE TABLE not_yet (n int)')
  expect((await read()).rows).toEqual([{ n: 0 }])
  // The shape of the table changes under the prepared statement, as during a migration beside running services.
  await database.query('ALTER TABLE not_yet ADD COLUMN m int')
  expect((await read()).rows).toEqual([{ n: 0 }])
})

/** Transactions of statements, and with records. `run` sends a statement within the transaction. */
const WAYS: [
  string,
  (on: Database, work: (run: (sql: string) => Promise<unknown>) => Promise<void>) => Promise<void>,
][] = [
  ['statements', (on, work) => on.transaction((tx) => work((sql) => tx.query(sql)))],
  [
    'statements and records',
    (on, work) =>
      on.transaction(async (tx) => {
        const prisma = await tx.prisma()
        await prisma.tenant.count()
        await work((sql) => tx.query(sql))
      }),
  ],
]

const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  )

describe.each(WAYS)('a transaction of %s', (_, transaction) => {
  let two: Database
  let taken: Database

  beforeAll(async () => {
    two = createDatabase({ url: made.url, applicationName: 'test', tenant: '*', max: 2 })
    taken = createDatabase({
      url: made.url,
      applicationName: 'test',
      tenant: '*',
      max: 1,
      bounds: { connectionMs: 1_000 },
    })
    await two.query('CREATE TABLE IF NOT EXISTS pairs (name text PRIMARY KEY)')
    await two.query(`INSERT INTO pairs VALUES ('a'), ('b') ON CONFLICT DO NOTHING`)
  })
  afterAll(async () => {
    await two.close()
    await taken.close()
  })

  const lock = (name: string) => `SELECT 1 FROM pairs WHERE name = '${name}' FOR UPDATE`

  /** Keeps the only connection in use until the returned function is called. */
  async function takeConnection(): Promise<() => void> {
    const client = await taken.pool.connect()
    return () => client.release()
  }

  test('waits for a connection', async () => {
    const giveBack = await takeConnection()
    const waiting = transaction(taken, async (run) => void (await run('SELECT 1')))
    await waitFor(() => taken.pool.waitingCount === 1)
    giveBack()
    await expect(waiting).resolves.toBeUndefined()
  })

  test('reports the database as busy if it gets no connection in time', async () => {
    const giveBack = await takeConnection()
    const error = await failure(transaction(taken, async (run) => void (await run('SELECT 1'))))
    expect([error instanceof Error, isBusy(error)]).toEqual([true, true])
    giveBack()
  })

  test('is retried after a deadlock', async () => {
    let arrived = 0
    let meet = () => {}
    const both = new Promise<void>((resolve) => {
      meet = resolve
    })
    let tries = 0
    const crossing = (first: string, second: string) =>
      transaction(two, async (run) => {
        tries += 1
        await run(lock(first))
        arrived += 1
        if (arrived === 2) meet()
        await both
        await run(lock(second))
      })
    await Promise.all([crossing('a', 'b'), crossing('b', 'a')])
    expect(tries).toBeGreaterThan(2)
  })

  test.each([
    ['a lock', `SET LOCAL lock_timeout = '50ms'`],
    ['a statement', `SET LOCAL statement_timeout = '50ms'`],
  ])('reports the database as busy if %s exceeds its timeout', async (_what, bound) => {
    const error = await failure(
      transaction(two, async (run) => {
        await run(lock('a'))
        await transaction(two, async (other) => {
          await other(bound)
          await other(lock('a'))
        })
      }),
    )
    expect([error instanceof Error, isBusy(error), isConnectionError(error)]).toEqual([true, true, false])
  })

  test('reports the database as unreachable if the server ends its connection', async () => {
    const error = await failure(
      transaction(two, async (run) => {
        await run('SELECT pg_terminate_backend(pg_backend_pid())')
        await run('SELECT 1')
      }),
    )
    expect([error instanceof Error, isConnectionError(error), isBusy(error)]).toEqual([true, true, false])
    await expect(transaction(two, async (run) => void (await run('SELECT 1')))).resolves.toBeUndefined()
  })
})

describe('records and statements of one transaction', () => {
  const PID = 'SELECT pg_backend_pid() AS pid'
  const slugs = async () => (await (await database.prisma()).tenant.findMany()).map(({ slug }) => slug)

  test('share a connection, while other transactions use others', async () => {
    const many = createDatabase({ url: made.url, applicationName: 'test', tenant: '*', max: 4 })
    const pids = await Promise.all(
      Array.from({ length: 4 }, () =>
        many.transaction(async (tx) => {
          const prisma = await tx.prisma()
          const [found] = await prisma.$queryRawUnsafe<{ pid: number }[]>(`${PID}, pg_sleep(0.05)::text`)
          const { rows } = await tx.query<{ pid: number }>(PID)
          return [found?.pid, rows[0]?.pid]
        }),
      ),
    )
    for (const [byPrisma, byStatement] of pids) expect(byPrisma).toBe(byStatement)
    expect(new Set(pids.flat()).size).toBe(4)
    await many.close()
  })

  test('are committed or undone together', async () => {
    const create = (slug: string, failing: boolean) =>
      database.transaction(async (tx) => {
        await (await tx.prisma()).tenant.create({ data: { name: slug, slug } })
        await tx.query('INSERT INTO noted VALUES ($1)', [slug])
        if (failing) throw new Error('given up')
      })
    await create('together', false)
    await expect(create('undone', true)).rejects.toThrow('given up')
    expect(await slugs()).toEqual(['together'])
    expect(await noted()).toEqual([{ word: 'kept' }, { word: 'together' }])
  })

  test('end with it: a record that is written later is refused', async () => {
    const late: Promise<unknown>[] = []
    const work = database.transaction(async (tx) => {
      const prisma = await tx.prisma()
      const slow = tx.query('SELECT pg_sleep(0.05)')
      late.push(slow.then(() => prisma.tenant.create({ data: { name: 'stray', slug: 'stray' } })))
      throw new Error('given up')
    })
    await expect(work).rejects.toThrow('given up')
    expect((await Promise.allSettled(late))[0]?.status).toBe('rejected')
    expect(await slugs()).toEqual(['together'])
  })
})

test('the database is up if it answers, also while every connection is in use', async () => {
  expect(await database.isUp()).toBe(true)
  const hasty = createDatabase({ url: made.url, applicationName: 'test', tenant: '*', max: 1, bounds: { upMs: 200 } })
  await waitFor(() => hasty.isUp())
  let working = true
  const busy = (async () => {
    while (working) await hasty.query('SELECT 1')
  })()
  await waitFor(() => hasty.isUp())
  working = false
  await busy
  const client = await hasty.pool.connect()
  expect(await hasty.isUp()).toBe(false)
  client.release()
  await hasty.close()
})
