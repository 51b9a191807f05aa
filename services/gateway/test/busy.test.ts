import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { isUnavailable } from '@slipway/database'
import { waitFor, waitForValue } from '@slipway/testing'
import type pg from 'pg'
import { BoundedQueue } from '../src/credentials/passwords.ts'
import { problemOf } from '../src/problems.ts'
import { addTenant, type Client, clientOf, refusal, refused, startGateway, type TestGateway } from './setup.ts'

/** Several times the number of database connections of a gateway. */
const CROWD = 40
const CONNECTIONS = 10

let gateway: TestGateway
let admin: Client
/** A client of a tenant. Authentication and the work of its calls use different connections. */
let ofTenant: Client

beforeAll(async () => {
  // No call is refused because the machine is slow.
  gateway = await startGateway({}, { bounds: { connectionMs: 60_000 } })
  admin = clientOf(gateway, gateway.adminToken)
  ofTenant = (await addTenant(gateway, 'A')).admin
})
afterAll(() => gateway.close())

let counter = 0
const unique = (name: string) => `${name} ${++counter}`
const newTarget = (client: Client, more: object = {}) =>
  client.send('createTarget', '/targets', { name: unique('target'), connection: { type: 'simulated' }, ...more })
const crowd = <T>(call: (index: number) => Promise<T>, length = CROWD) =>
  Array.from({ length }, (_, index) => index).map((index) => call(index))
const tally = (answers: { status: number }[]) => {
  const counts: Record<number, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

/** Locks the audit table until `work` is done, so no call that changes something can end. */
async function whileChangesWait(on: TestGateway, work: (holder: pg.PoolClient) => Promise<void>): Promise<void> {
  const holder = await on.database.pool.connect()
  try {
    await holder.query('BEGIN')
    await holder.query('LOCK TABLE audit_records IN EXCLUSIVE MODE')
    await work(holder)
    await holder.query('COMMIT')
  } finally {
    holder.release(true)
  }
}

// Postgres shows the statements of a role only to that role.
const waitingForLock = async (on: TestGateway) => {
  const { rows } = await on.asGateway.query<{ count: number }>(
    `SELECT count(*) AS count FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%audit_records%'`,
  )
  return rows[0]?.count ?? 0
}
const untilWaiting = (on: TestGateway, count: number) =>
  waitForValue(
    'calls to wait',
    () => waitingForLock(on),
    (waiting) => waiting >= count,
  )

test('a database that is read-only is 500 with the time after which to try again, and messages wait for it', async () => {
  const failure = await gateway.database
    .transaction(async (tx) => {
      await tx.query('SET TRANSACTION READ ONLY')
      await tx.query('DELETE FROM targets')
    })
    .catch((error: unknown) => error)
  expect(problemOf(failure)).toMatchObject({ code: 'DATABASE_ERROR', status: 500, details: { retry_after_secs: 30 } })
  expect(isUnavailable(failure)).toBe(true)
})

describe('many concurrent calls', () => {
  test('wait for connections when they change records, and all succeed', async () => {
    let calls: Promise<{ status: number }>[] = []
    await whileChangesWait(gateway, async () => {
      calls = crowd(() => newTarget(ofTenant), 2 * CONNECTIONS)
      await untilWaiting(gateway, CONNECTIONS)
      // Longer than the default limit of 2 s that Prisma sets for a transaction.
      await gateway.database.query('SELECT pg_sleep(2.2)')
    })
    expect(tally(await Promise.all(calls))).toEqual({ 201: 2 * CONNECTIONS })
  })

  test('are refused with Retry-After if they exceed the timeout, and each leaves an audit record', async () => {
    const hurried = await startGateway({}, { bounds: { connectionMs: 1_000 } })
    const client = (await addTenant(hurried, 'A')).admin
    const before = await records(hurried)
    const refusals: { status: number; headers: Record<string, string>; body: object }[] = []
    let calls: Promise<{ status: number }>[] = []
    // All connections are open before: on a busy machine, opening them takes longer than the timeout.
    await waitFor(
      async () => (tally(await Promise.all(crowd(() => client.send('listTargets', '/targets'))))[200] ?? 0) === CROWD,
      {
        what: 'all connections to be open',
      },
    )
    await whileChangesWait(hurried, async () => {
      calls = crowd(() => newTarget(client), CONNECTIONS)
      await untilWaiting(hurried, CONNECTIONS)
      const others = crowd(async () => {
        const answer = await newTarget(client)
        refusals.push(answer)
        return answer
      }, CROWD - CONNECTIONS)
      calls = [...calls, ...others]
      await waitFor(() => refusals.length === CROWD - CONNECTIONS, { what: 'the others to be refused' })
    })
    expect(tally(await Promise.all(calls))).toEqual({ 201: CONNECTIONS, 503: CROWD - CONNECTIONS })
    for (const answer of refusals) {
      expect(refusal(answer)).toEqual(refused(503, 'SERVICE_UNAVAILABLE'))
      expect(answer.headers['retry-after']).toBe('2')
    }
    const left = await waitForValue(
      'the records',
      () => records(hurried),
      ({ all }) => all === before.all + CROWD,
    )
    expect(left.failed - before.failed).toBe(CROWD - CONNECTIONS)
    await hurried.close()
  })

  test('do not deadlock when they send masked secrets back', async () => {
    const secret = { variables: { token: 'planted-value' }, sensitive_variables: ['token'] }
    // More than the number of connections. On a busy machine, many more calls would exceed their timeout.
    const targets = await Promise.all(crowd(() => newTarget(ofTenant, secret), 2 * CONNECTIONS))
    const change = (id: string) => ofTenant.send('updateTarget', `/targets/${id}`, { variables: { token: '***' } })
    const answers = await Promise.all(targets.map(({ body }) => change(body.id)))
    expect(tally(answers)).toEqual({ 200: 2 * CONNECTIONS })
  })
})

async function records(on: TestGateway): Promise<{ all: number; failed: number }> {
  const { rows } = await on.database.query<{ all: number; failed: number }>(
    `SELECT count(*) AS all, count(*) FILTER (WHERE details ->> 'outcome' = 'failed') AS failed
       FROM audit_records WHERE action = 'target.create'`,
  )
  return rows[0] ?? { all: 0, failed: 0 }
}

test('a source that is deleted while a version of it is published is not found, as for other changes', async () => {
  const definition = { type: 'script', script: 'true' }
  const { body } = await admin.send('createAction', '/actions', {
    name: unique('action'),
    version: '1.0.0',
    definition,
  })
  let publishing: ReturnType<Client['send']> | undefined
  await whileChangesWait(gateway, async (holder) => {
    publishing = admin.send('createActionVersion', `/actions/${body.id}/versions`, { version: '1.1.0', definition })
    publishing.catch(() => {})
    await untilWaiting(gateway, 1)
    await holder.query('DELETE FROM sources WHERE id = $1', [body.id])
  })
  expect(refusal((await publishing) as never)).toEqual(refused(404, 'NOT_FOUND'))
})

describe('the queue for password hashing', () => {
  /** Occupies a slot until `free` is called. */
  const occupy = (queue: BoundedQueue) => {
    let free = () => {}
    const done = queue.run(
      () =>
        new Promise<void>((resolve) => {
          free = resolve
        }),
    )
    return { done, free: () => free() }
  }
  const unavailable = expect.objectContaining({ code: 'SERVICE_UNAVAILABLE' })

  test('refuses a call that waits longer than the limit, and continues afterwards', async () => {
    const queue = new BoundedQueue(1, 10, 20)
    const first = occupy(queue)
    await expect(queue.run(async () => 'late')).rejects.toEqual(unavailable)
    const second = queue.run(async () => 'in time')
    first.free()
    expect(await second).toBe('in time')
    await first.done
    expect(await Promise.all([queue.run(async () => 1), queue.run(async () => 2)])).toEqual([1, 2])
  })

  test('refuses calls beyond its length', async () => {
    const queue = new BoundedQueue(1, 1, 60_000)
    const first = occupy(queue)
    const second = queue.run(async () => 'waited')
    await expect(queue.run(async () => 'too many')).rejects.toEqual(unavailable)
    first.free()
    expect(await second).toBe('waited')
  })
})
