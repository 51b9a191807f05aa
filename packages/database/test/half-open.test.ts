import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { exposition } from '@slipway/runtime'
import {
  connectTo,
  createTestDatabase,
  startTcpProxy,
  type TcpProxy,
  type TestDatabase,
  waitFor,
} from '@slipway/testing'
import { createDatabase, type Database, forAllTenants, isConnectionError } from '../src/index.ts'

/** The size of the connection pool. */
const MAX = 6
/** For connections that are half-open while the server answers. */
const QUICK = { connectionMs: 2_000, upMs: 80, tickMs: 200, askMs: 160 }
/** For a server that does not answer at all. */
const HASTY = { connectionMs: 500, upMs: 80, tickMs: 100, askMs: 80 }
/** Short ticks, but the server has all the time it needs to answer the watch. */
const PATIENT = { tickMs: 20, askMs: 10_000 }

let made: TestDatabase
let proxy: TcpProxy
let database: Database

const open = (options: Partial<Parameters<typeof createDatabase>[0]> = {}) =>
  createDatabase({ url: proxy.url, applicationName: 'half-open test', max: MAX, bounds: QUICK, ...options })

beforeAll(async () => {
  made = await createTestDatabase()
})
afterAll(() => made.drop())
beforeEach(async () => {
  proxy = await startTcpProxy(made.url)
  database = open({ tenant: '*' })
})
afterEach(async () => {
  proxy.resume()
  await database.close()
  await proxy.close()
})

const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => null,
    (failure: unknown) => failure,
  )

const expectLost = (error: unknown) => expect([isConnectionError(error), error]).toEqual([true, expect.anything()])

/** Opens all connections of the pool. The server has answered on each. */
const inUse = async (on: Database) => {
  const clients = await Promise.all(Array.from({ length: MAX }, () => on.pool.connect()))
  await Promise.all(clients.map((client) => client.query('SELECT 1')))
  for (const client of clients) client.release()
}

/** Every way to send a statement. */
const WAYS: [string, (on: Database) => Promise<unknown>][] = [
  ['a statement', (on) => on.query('SELECT 1')],
  ['a prepared statement', (on) => on.query('SELECT $1::int', [1])],
  ['a transaction', (on) => on.transaction((tx) => tx.query('SELECT 1'))],
  ['reads that are sent together', (on) => on.together((connection) => connection.query('SELECT 1'))],
  ['a statement of Prisma', async (on) => (await on.prisma()).tenant.count()],
  ['a transaction of Prisma', (on) => on.transaction(async (tx) => (await tx.prisma()).tenant.count())],
]

const lostConnections = async () => {
  const { text } = await exposition()
  return Number(/^slipway_database_connections_lost_total (\d+)$/m.exec(text)?.[1] ?? 0)
}

test('every statement on a half-open connection fails as a lost connection, and the next one succeeds', async () => {
  const opened = WAYS.map(([way, run]) => ({ way, run, on: open({ tenant: '*' }) }))
  await Promise.all(opened.map(({ on }) => inUse(on)))
  const before = await lostConnections()
  // The watch closes a connection at its first look if it was quiet as long as the one that failed.
  await sleep(3 * QUICK.tickMs)
  proxy.strand()
  const results = await Promise.all(
    opened.map(async ({ way, run, on }) => {
      const first = await failureOf(run(on))
      return { way, isLost: isConnectionError(first), next: await failureOf(run(on)) }
    }),
  )
  expect(results).toEqual(WAYS.map(([way]) => ({ way, isLost: true, next: null })))
  // The other connections were half-open as well. The pools replace them without trying each.
  expect((await lostConnections()) - before).toBe(WAYS.length * MAX)
  await Promise.all(opened.map(({ on }) => on.close()))
})

test('calls fail while the server is unreachable, and succeed when it is back', async () => {
  const database = open({ tenant: '*', bounds: HASTY })
  await inUse(database)
  proxy.freeze()
  const tryAll = () => Promise.all(WAYS.map(([, run]) => failureOf(run(database))))
  for (const error of [...(await tryAll()), ...(await tryAll())]) expectLost(error)
  proxy.strand()
  proxy.resume()
  await waitFor(async () => (await tryAll()).every((error) => error === null), { what: 'answers' })
  await database.close()
})

test('a transaction whose answer is lost reports a lost connection', async () => {
  const work = database.transaction(async (tx) => {
    await tx.query('SELECT 1')
    proxy.strand()
    await tx.query('SELECT 2')
  })
  expectLost(await failureOf(work))
})

test('the session of a lost connection ends, so its locks do too', async () => {
  const name = 'half-open'
  await database.query('INSERT INTO roles (id, name, updated_at) VALUES (gen_random_uuid(), $1, now())', [name])
  const lock = (on: Pick<Database, 'query'>) => on.query('SELECT FROM roles WHERE name = $1 FOR UPDATE', [name])
  const work = database.transaction(async (tx) => {
    await lock(tx)
    proxy.silence()
    await tx.query('SELECT 2')
  })
  expectLost(await failureOf(work))
  expect(await failureOf(lock(database))).toBeNull()
})

describe('readiness', () => {
  beforeEach(() => {
    database = open({ tenant: '*', bounds: HASTY })
  })

  test('ends and returns with the server', async () => {
    await inUse(database)
    await waitFor(() => database.isUp(), { what: 'readiness' })
    proxy.freeze()
    expect(await database.isUp()).toBe(false)
    proxy.strand()
    proxy.resume()
    await waitFor(() => database.isUp(), { what: 'readiness' })
  })

  test('is false while no connection gets an answer', async () => {
    await inUse(database)
    proxy.freeze()
    let isOver = false
    // Each statement returns its connection to the pool with an error.
    const waiting = Promise.all(Array.from({ length: 2 * MAX }, () => failureOf(database.query('SELECT 1')))).finally(
      () => {
        isOver = true
      },
    )
    let asked = 0
    for (; !isOver; asked += 1) expect(await database.isUp()).toBe(false)
    for (const error of await waiting) expectLost(error)
    expect(asked).toBeGreaterThan(1)
  })
})

describe('connections that only seem half-open', () => {
  test('a long statement and a wait for a lock continue', async () => {
    const patient = open({ tenant: '*', bounds: PATIENT })
    const holder = await connectTo(made.url)
    await holder.query('CREATE TABLE held (n int); INSERT INTO held VALUES (1)')
    await holder.query('BEGIN; UPDATE held SET n = 2')
    const long = patient.query('SELECT pg_sleep(1)')
    const waiting = patient.query('UPDATE held SET n = n + 1')
    /** The last question of the watch, with its time. */
    const questions = async () =>
      (
        await database.query<{ asked: string }>(
          `SELECT query_start::text AS asked FROM pg_stat_activity WHERE query LIKE '%= ANY($1::text[])%' AND datname = current_database()`,
        )
      ).rows.map(({ asked }) => asked)
    const seen = new Set<string>()
    // More questions than the ticks after which a silent connection is closed.
    await waitFor(async () => (await questions()).every((asked) => seen.add(asked)) && seen.size > 7, { everyMs: 10 })
    await holder.query('COMMIT')
    await Promise.all([long, waiting])
    expect((await patient.query<{ n: number }>('SELECT n FROM held')).rows).toEqual([{ n: 3 }])
    await holder.end()
    await patient.close()
  })

  test('a process that was suspended longer than the bound loses no connection', async () => {
    const patient = open({ tenant: '*', bounds: PATIENT })
    await inUse(patient)
    const before = await lostConnections()
    const answers = Promise.all(Array.from({ length: 4 }, () => failureOf(patient.query('SELECT pg_sleep(0.3)'))))
    await patient.query('SELECT 1')
    for (const until = performance.now() + 25 * PATIENT.tickMs; performance.now() < until; );
    expect(await answers).toEqual([null, null, null, null])
    expect(await lostConnections()).toBe(before)
    await patient.close()
  })
})

test('the connections of one tenant and of all tenants are both monitored', async () => {
  const ofCallers = open({ max: 2 })
  const asTenant = () => ofCallers.query('SELECT 1')
  const asAll = () => forAllTenants(() => ofCallers.query('SELECT 1'))
  await Promise.all([asTenant(), asAll()])
  proxy.strand()
  for (const error of await Promise.all([failureOf(asTenant()), failureOf(asAll())])) expectLost(error)
  await Promise.all([asTenant(), asAll()])
  await ofCallers.close()
})

test('a close ends although the server does not answer', async () => {
  const [one, other] = [open({ tenant: '*', bounds: HASTY }), open({ bounds: HASTY })]
  await inUse(one)
  proxy.freeze()
  const lost = failureOf(other.query('SELECT 1'))
  await Promise.all([one.close(), other.close()])
  expectLost(await lost)
})
