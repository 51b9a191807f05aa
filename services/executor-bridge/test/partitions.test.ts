import { randomUUID } from 'node:crypto'
import { afterAll, beforeEach, expect, test } from '@jest/globals'
import { exposition } from '@slipway/runtime'
import { connectTo, type OpenTestDatabase, openTestDatabase, testLogger } from '@slipway/testing'
import { keepLogPartitions, makeLogPartitions } from '../src/events/partitions.ts'

const databases: OpenTestDatabase[] = []
let db: OpenTestDatabase

beforeEach(async () => {
  db = await openTestDatabase()
  databases.push(db)
  // Only the default partition is left, as after days without a bridge.
  await db.database.query(`DO $$
    DECLARE partition regclass;
    BEGIN
      FOR partition IN SELECT inhrelid::regclass FROM pg_inherits
                        WHERE inhparent = 'log_chunks'::regclass AND inhrelid <> 'log_chunks_default'::regclass LOOP
        EXECUTE format('DROP TABLE %s', partition);
      END LOOP;
    END $$`)
})
afterAll(async () => {
  for (const made of databases) await made.drop()
})

/** Stores rows of log lines on the day that is so many days from today. */
async function store(daysAhead: number, rows = 1): Promise<string> {
  const id = randomUUID()
  await db.database.query(
    `INSERT INTO log_chunks (deployment_id, first_line, line_count, lines, created_at)
     SELECT $1, n, 1, jsonb_build_array(n), date_trunc('day', now(), 'UTC') + make_interval(days => $2, hours => 1)
       FROM generate_series(0, $3::int - 1) n`,
    [id, daysAhead, rows],
  )
  return id
}

/** The partitions as days from today, each with the number of its rows. */
async function partitions(): Promise<Record<string, number>> {
  const { rows } = await db.database.query<{ day: string; rows: number }>(
    `SELECT coalesce((to_date(right(c.relname, 8), 'YYYYMMDD') - (now() AT TIME ZONE 'UTC')::date)::text, 'default') AS day,
            (xpath('/row/c/text()', query_to_xml(format('SELECT count(*) AS c FROM %I', c.relname), false, true, '')))[1]::text::int AS rows
       FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid, LATERAL (SELECT c.relname ~ '[0-9]{8}$' AS dated) d
      WHERE i.inhparent = 'log_chunks'::regclass AND d.dated
      UNION ALL SELECT 'default', count(*) FROM log_chunks_default`,
  )
  return Object.fromEntries(rows.map(({ day, rows }) => [day, Number(rows)]))
}

const make = () => makeLogPartitions(db.as('executor-bridge'), testLogger)

async function linesOf(id: string): Promise<number> {
  const { rows } = await db.database.query<{ count: number }>(
    'SELECT count(*) FROM log_chunks WHERE deployment_id = $1',
    [id],
  )
  return rows[0]?.count ?? 0
}

async function measured(name: string): Promise<string | undefined> {
  return (await exposition()).text.match(new RegExp(`^${name} (.*)$`, 'm'))?.[1]
}

test('lines of a day without partition move into the partition of that day, and stay readable', async () => {
  const today = await store(0, 3)
  const before = await store(-4, 2)
  expect(await partitions()).toEqual({ default: 5 })
  await make()
  expect(await partitions()).toEqual({ default: 0, '-4': 2, '0': 3, '1': 0, '2': 0 })
  expect([await linesOf(today), await linesOf(before)]).toEqual([3, 2])
  await store(0)
  expect(await partitions()).toEqual({ default: 0, '-4': 2, '0': 4, '1': 0, '2': 0 })
})

test('a partition that takes over lines has row-level security, as every other one', async () => {
  await store(0)
  await make()
  const { rows } = await db.database.query<{ name: string; held: boolean; policies: number }>(
    `SELECT c.relname AS name, c.relrowsecurity AND c.relforcerowsecurity AS held,
            (SELECT count(*) FROM pg_policy p WHERE p.polrelid = c.oid) AS policies
       FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'log_chunks'::regclass`,
  )
  expect(rows.filter(({ held, policies }) => !held || policies !== 1)).toEqual([])
  const stranger = await connectTo(db.url, randomUUID())
  for (const { name } of rows) expect((await stranger.query(`SELECT FROM ${name}`)).rowCount).toBe(0)
  await stranger.end()
})

test('a day that cannot be made stops no other day, and is made after the cause is removed', async () => {
  const { rows } = await db.database.query<{ name: string }>(
    `SELECT 'log_chunks_' || to_char((now() AT TIME ZONE 'UTC')::date + 1, 'YYYYMMDD') AS name`,
  )
  const name = rows[0]?.name
  await db.database.query(`CREATE TABLE ${name} ()`)
  await make()
  expect(await partitions()).toEqual({ default: 0, '0': 0, '2': 0 })
  await db.database.query(`DROP TABLE ${name}`)
  await make()
  expect(await partitions()).toEqual({ default: 0, '0': 0, '1': 0, '2': 0 })
})

test('a day with too many lines to move stays in the default partition, and the days after it are made', async () => {
  const id = await store(0, 10_001)
  await make()
  expect(await partitions()).toEqual({ default: 10_001, '1': 0, '2': 0 })
  expect(await linesOf(id)).toBe(10_001)
})

test('no line is lost while lines move and new ones are written', async () => {
  const old = await store(0, 5_000)
  let writing = true
  const written: string[] = []
  const writers = Array.from({ length: 4 }, async () => {
    while (writing) written.push(await store(0))
  })
  // Three bridges work at the same time. One of them makes the partition.
  while ((await partitions())['0'] === undefined) await Promise.all([make(), make(), make()])
  writing = false
  await Promise.all(writers)
  const { rows } = await db.database.query<{ count: number }>('SELECT count(*) FROM log_chunks')
  expect(await linesOf(old)).toBe(5_000)
  expect(rows[0]?.count).toBe(5_000 + written.length)
  expect(await partitions()).toMatchObject({ default: 0 })
})

test('a transaction that reads the default partition delays the new partitions, not the writes', async () => {
  const reader = await db.database.pool.connect()
  await reader.query('BEGIN')
  await reader.query('SELECT FROM log_chunks_default')
  const began = Date.now()
  const making = make()
  await store(0)
  await making
  expect(Date.now() - began).toBeLessThan(60_000)
  expect(await partitions()).toEqual({ default: 1 })
  await reader.query('COMMIT')
  reader.release()
  await make()
  expect(await partitions()).toEqual({ default: 0, '0': 1, '1': 0, '2': 0 })
})

test('the metrics have the number of days with a partition, and the rows of days without one', async () => {
  await store(0, 10_001)
  const ticker = keepLogPartitions(db.as('executor-bridge'), testLogger)
  await ticker.stop()
  expect(await measured('slipway_log_partition_days')).toBe('0')
  expect(await measured('slipway_log_default_rows')).toBe('10001')
  await db.database.query('DELETE FROM log_chunks')
  await make()
  expect(await measured('slipway_log_partition_days')).toBe('3')
  expect(await measured('slipway_log_default_rows')).toBe('0')
})
