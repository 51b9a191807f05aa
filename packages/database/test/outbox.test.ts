import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { attempt, createDatabase, type Database, enqueue, eventMessage, startRelay } from '@slipway/database'
import { createLogger, uuidv7, withContext } from '@slipway/runtime'
import { type OpenTestDatabase, openTestDatabase, waitFor } from '@slipway/testing'

let made: OpenTestDatabase
/** A connection as the owner of the tables. Tests prepare and inspect rows with it. */
let owner: Database
let database: Database
const logger = createLogger({ service: 'test', level: 'error' })
const quiet = { ...logger, error: () => {}, warn: () => {} }

beforeAll(async () => {
  made = await openTestDatabase()
  owner = made.database
  database = made.as('gateway')
})

afterAll(() => made.drop())

beforeEach(() => owner.query('DELETE FROM outbox').then(() => {}))

const freed = (n: number) =>
  eventMessage('slot.freed', { instance_id: `00000000-0000-7000-8000-${String(n).padStart(12, '0')}` })
const unsent = async () => (await owner.query<{ n: number }>('SELECT count(*) AS n FROM outbox')).rows[0]?.n

test('a message of a failed transaction is never sent', async () => {
  await expect(
    database.transaction(async (tx) => {
      await enqueue(tx, [freed(1)])
      throw new Error('changed its mind')
    }),
  ).rejects.toThrow('changed its mind')
  expect(await unsent()).toBe(0)
})

test('two relays send each message once, in order, with the id of the request that caused it', async () => {
  await withContext({ request_id: 'req-1' }, () =>
    enqueue(
      database,
      Array.from({ length: 450 }, (_, n) => freed(n)),
    ),
  )
  const sent: { message_id: string; request_id: string | null }[] = []
  const relays = [1, 2].map(() =>
    startRelay({ database, logger, intervalMs: 20, publish: async (messages) => void sent.push(...messages) }),
  )
  await waitFor(async () => (await unsent()) === 0)
  await Promise.all(relays.map((relay) => relay.stop()))
  expect(sent).toHaveLength(450)
  expect(new Set(sent.map((m) => m.message_id)).size).toBe(450)
  expect(new Set(sent.map((m) => m.request_id))).toEqual(new Set(['req-1']))
})

test('messages that RabbitMQ did not confirm stay and are sent later', async () => {
  await enqueue(database, [freed(1), freed(2)])
  let broken = true
  const sent: unknown[] = []
  const relay = startRelay({
    database,
    logger,
    intervalMs: 20,
    async publish(messages) {
      if (broken) {
        broken = false
        throw new Error('no connection')
      }
      sent.push(...messages)
    },
  })
  await waitFor(async () => (await unsent()) === 0)
  await relay.stop()
  expect(sent).toHaveLength(2)
})

test('a relay that started on an empty outbox reads only the rows that it sends', async () => {
  const one = createDatabase({ url: made.urlOf('dispatcher'), applicationName: 'test', max: 1, tenant: '*' })
  const scanned = async () => {
    await one.query('SELECT pg_stat_force_next_flush()')
    const { rows } = await one.query<{ n: number }>(
      `SELECT seq_tup_read AS n FROM pg_stat_user_tables WHERE relname = 'outbox'`,
    )
    return rows[0]?.n ?? Number.NaN
  }
  await owner.query('VACUUM ANALYZE outbox')
  let sent = 0
  const relay = startRelay({
    database: one,
    logger,
    intervalMs: 20,
    publish: async (messages) => {
      sent += messages.length
    },
  })
  await enqueue(database, [freed(0)])
  await waitFor(() => sent === 1)
  const before = await scanned()
  await enqueue(
    database,
    Array.from({ length: 2_000 }, (_, n) => freed(n)),
  )
  await waitFor(() => sent === 2_001)
  await relay.stop()
  expect((await scanned()) - before).toBeLessThan(100)
  await one.close()
})

test('a message that cannot be sent does not delay other messages', async () => {
  await enqueue(database, [freed(1), freed(2), freed(3)])
  const sent: string[] = []
  const relay = startRelay({
    database,
    logger,
    intervalMs: 20,
    async publish(messages) {
      const isPoison = ({ json }: { json: string }) => json.endsWith('2"}')
      sent.push(...messages.filter((m) => !isPoison(m)).map((m) => m.message_id))
      const failures = messages.filter(isPoison)
      if (failures.length > 0) throw Object.assign(new Error('too large'), { failures })
    },
  })
  await waitFor(async () => (await unsent()) === 1)
  await relay.stop()
  expect(sent).toHaveLength(2)
})

test('many messages that cannot be sent do not block the messages behind them', async () => {
  const isPoison = ({ type }: { type: string }) => type === 'slot.freed'
  const sent: string[] = []
  await enqueue(
    database,
    Array.from({ length: 1_100 }, (_, n) => freed(n)),
  )
  await enqueue(database, [eventMessage('target.deleted', { target_id: uuidv7(), tenant_id: null })])
  const relay = startRelay({
    database,
    logger: quiet,
    intervalMs: 20,
    async publish(messages) {
      sent.push(...messages.filter((m) => !isPoison(m)).map(({ type }) => type))
      const failures = messages.filter(isPoison)
      if (failures.length > 0) throw Object.assign(new Error('no queue takes it'), { failures })
    },
  })
  await waitFor(() => sent.length > 0)
  await relay.stop()
  expect(sent).toEqual(['target.deleted'])
  expect(await unsent()).toBe(1_100)
})

test('a message that cannot be kept for webhooks stays, and does not delay other messages', async () => {
  await owner.query(`INSERT INTO webhooks (id, url, events, secret_sealed) VALUES ($1, '', '{target.deleted}', '')`, [
    uuidv7(),
  ])
  const [bad, good] = [uuidv7(), uuidv7()]
  await owner.query(
    `CREATE FUNCTION poison() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'poisoned'; END $$`,
  )
  await owner.query(
    `CREATE TRIGGER poison BEFORE INSERT ON webhook_events FOR EACH ROW WHEN (NEW.record_id = '${bad}') EXECUTE FUNCTION poison()`,
  )
  await enqueue(
    database,
    [bad, good].map((target_id) => eventMessage('target.deleted', { target_id, tenant_id: null })),
  )
  const relay = startRelay({ database, logger: quiet, intervalMs: 20, publish: async () => {} })
  const kept = async () => (await owner.query<{ id: string }>('SELECT record_id AS id FROM webhook_events')).rows
  await waitFor(async () => (await unsent()) === 1)
  expect(await kept()).toEqual([{ id: good }])
  await owner.query('DROP FUNCTION poison() CASCADE')
  await waitFor(async () => (await unsent()) === 0)
  await relay.stop()
  expect(await kept()).toHaveLength(2)
  await owner.query('TRUNCATE webhooks CASCADE')
})

test('a failed attempt undoes its own writes, refuses its later statements, and keeps the transaction', async () => {
  let late: Promise<unknown> | undefined
  await database.transaction(async (tx) => {
    await enqueue(tx, [freed(1)])
    const work = attempt(tx, async (inner) => {
      late = new Promise((resolve) => setTimeout(resolve, 50)).then(() => enqueue(inner, [freed(3)]))
      await Promise.all([enqueue(inner, [freed(2)]), inner.query('SELECT 1 / 0'), late])
    })
    await expect(work).rejects.toThrow('division by zero')
    await expect(late).rejects.toThrow('returned before this statement')
    await attempt(tx, (inner) => enqueue(inner, [freed(4)]))
    await enqueue(tx, [freed(5)])
  })
  const { rows } = await owner.query(`SELECT right(body ->> 'instance_id', 1) AS n FROM outbox ORDER BY id`)
  expect(rows.map(({ n }) => n)).toEqual(['1', '4', '5'])
})
