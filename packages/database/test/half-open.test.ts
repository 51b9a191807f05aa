import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { exposition } from '@slipway/runtime'
import { createTestDatabase, startTcpProxy, type TcpProxy, type TestDatabase, waitFor } from '@slipway/testing'
import { createDatabase, type Database, forAllTenants, isConnectionError } from '../src/index.ts'

/** The bound is some seconds. Without it, the operating system ends the connection after minutes. */
const BOUND_SECONDS = 25
/** The size of the connection pool. */
const MAX = 6

let made: TestDatabase
let proxy: TcpProxy
let database: Database

beforeAll(async () => {
  made = await createTestDatabase()
})
afterAll(() => made.drop())
beforeEach(async () => {
  proxy = await startTcpProxy(made.url)
  database = createDatabase({ url: proxy.url, applicationName: 'half-open test', tenant: '*', max: MAX })
})
afterEach(async () => {
  proxy.resume()
  await database.close()
  await proxy.close()
})

interface Outcome {
  error: unknown
  seconds: number
}

const timed = async (work: Promise<unknown>): Promise<Outcome> => {
  const began = performance.now()
  const error = await work.then(
    () => null,
    (failure: unknown) => failure,
  )
  return { error, seconds: (performance.now() - began) / 1_000 }
}

const inUse = async (on: Database) => {
  await Promise.all(Array.from({ length: MAX }, () => on.query('SELECT pg_sleep(0.1)')))
}

/** Every way to send a statement. */
const WAYS: [string, (on: Database) => Promise<unknown>][] = [
  ['a statement', (on) => on.query('SELECT 1')],
  ['a prepared statement', (on) => on.query('SELECT $1::int', [1])],
  ['a transaction', (on) => on.transaction((tx) => tx.query('SELECT 1'))],
  ['reads that are sent together', (on) => on.together((connection) => connection.query('SELECT 1'))],
  ['a statement of Prisma', async (on) => (await on.prisma()).tenant.count()],
  ['a transaction of Prisma', (on) => on.prismaTransaction((tx) => tx.tenant.count())],
]

const lostConnections = async () => {
  const { text } = await exposition()
  return Number(/^slipway_database_connections_lost_total (\d+)$/m.exec(text)?.[1] ?? 0)
}

describe.each(WAYS)('%s on a half-open connection', (_, run) => {
  test('fails within seconds as a lost connection, and the next call succeeds', async () => {
    await inUse(database)
    const before = await lostConnections()
    proxy.strand()
    const { error, seconds } = await timed(run(database))
    expect([isConnectionError(error), error]).toEqual([true, expect.anything()])
    expect(seconds).toBeLessThan(BOUND_SECONDS)
    // The other connections were half-open as well. The pool replaces them without trying each.
    const next = await timed(run(database))
    expect(next.error).toBeNull()
    expect(next.seconds).toBeLessThan(seconds)
    expect((await lostConnections()) - before).toBe(MAX)
  })
})

test('calls fail within seconds while the server is unreachable, and succeed when it is back', async () => {
  await inUse(database)
  proxy.freeze()
  const tryAll = () => Promise.all(WAYS.map(([, run]) => timed(run(database))))
  for (const { error, seconds } of [...(await tryAll()), ...(await tryAll())]) {
    expect(isConnectionError(error)).toBe(true)
    expect(seconds).toBeLessThan(BOUND_SECONDS)
  }
  proxy.strand()
  proxy.resume()
  const works = async () => (await tryAll()).every(({ error }) => error === null)
  await waitFor(works, { timeoutMs: 30_000, what: 'answers' })
})

test('a transaction whose answer is lost reports a lost connection', async () => {
  const work = database.transaction(async (tx) => {
    await tx.query('SELECT 1')
    proxy.strand()
    await tx.query('SELECT 2')
  })
  const { error, seconds } = await timed(work)
  expect(isConnectionError(error)).toBe(true)
  expect(seconds).toBeLessThan(BOUND_SECONDS)
})

describe('readiness', () => {
  test('ends and returns with the server, and each check takes less than a second', async () => {
    await inUse(database)
    expect(await database.isUp()).toBe(true)
    proxy.freeze()
    const waits = []
    for (let n = 0; n < 5; n += 1) {
      const began = performance.now()
      expect(await database.isUp()).toBe(false)
      waits.push(performance.now() - began)
    }
    // On a busy machine some checks take longer.
    expect(Math.min(...waits)).toBeLessThan(950)
    proxy.strand()
    proxy.resume()
    await waitFor(() => database.isUp(), { timeoutMs: 30_000, what: 'readiness' })
  })

  test('is false while no connection gets an answer', async () => {
    await inUse(database)
    proxy.freeze()
    // Each statement returns its connection to the pool with an error.
    const waiting = Array.from({ length: 12 }, () => timed(database.query('SELECT 1')))
    let asked = 0
    const over = Promise.all(waiting).then((outcomes) => outcomes.every(({ error }) => isConnectionError(error)))
    let isOver = false
    void over.finally(() => {
      isOver = true
    })
    for (; !isOver; asked += 1) expect(await database.isUp()).toBe(false)
    expect([await over, asked > 3]).toEqual([true, true])
  })
})

describe('connections that only seem half-open', () => {
  test('a long statement and a wait for a lock continue', async () => {
    await database.query('CREATE TABLE held (n int); INSERT INTO held VALUES (1)')
    const holding = database.transaction(async (tx) => {
      await tx.query('UPDATE held SET n = 2')
      await sleep(6_000)
    })
    await sleep(200)
    const [long, waiting] = await Promise.all([
      timed(database.query('SELECT pg_sleep(6)')),
      timed(database.query('UPDATE held SET n = n + 1')),
      holding,
    ])
    expect([long.error, waiting.error]).toEqual([null, null])
    expect((await database.query<{ n: number }>('SELECT n FROM held')).rows).toEqual([{ n: 3 }])
  })

  test('a process that was suspended longer than the bound loses no connection', async () => {
    await inUse(database)
    const before = await lostConnections()
    const answers = Promise.all(Array.from({ length: 4 }, () => timed(database.query('SELECT pg_sleep(1)'))))
    await sleep(100)
    for (const until = performance.now() + 7_000; performance.now() < until; );
    expect((await answers).map(({ error }) => error)).toEqual([null, null, null, null])
    expect(await lostConnections()).toBe(before)
  })
})

test('the connections of one tenant and of all tenants are both monitored', async () => {
  const ofCallers = createDatabase({ url: proxy.url, applicationName: 'half-open test', max: 2 })
  const asTenant = () => ofCallers.query('SELECT 1')
  const asAll = () => forAllTenants(() => ofCallers.query('SELECT 1'))
  await Promise.all([asTenant(), asAll()])
  proxy.strand()
  for (const { error, seconds } of await Promise.all([timed(asTenant()), timed(asAll())])) {
    expect(isConnectionError(error)).toBe(true)
    expect(seconds).toBeLessThan(BOUND_SECONDS)
  }
  expect((await timed(asTenant())).error).toBeNull()
  expect((await timed(asAll())).error).toBeNull()
  await ofCallers.close()
})

test('closing takes seconds if the server does not answer', async () => {
  await inUse(database)
  proxy.freeze()
  const other = createDatabase({ url: proxy.url, applicationName: 'half-open test', max: 2 })
  const lost = timed(other.query('SELECT 1'))
  const { seconds } = await timed(Promise.all([database.close(), other.close()]))
  expect(seconds).toBeLessThan(BOUND_SECONDS)
  expect(isConnectionError((await lost).error)).toBe(true)
  database = createDatabase({ url: made.url, applicationName: 'half-open test' })
})
