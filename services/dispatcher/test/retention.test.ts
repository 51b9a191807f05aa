import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { deriveParts, LOCK_KEYS } from '@slipway/database'
import { verifyAudit } from '@slipway/database/audit'
import { addPending, testLogger, waitFor } from '@slipway/testing'
import { finishDeployment } from '../src/deployments/finish.ts'
import { findDroppable, retain } from '../src/retention/retain.ts'
import type { RetentionRules } from '../src/retention/settings.ts'
import { testDatabase } from './database.ts'
import { ADMIN, addCatalog, addInstance, startCommand, startDeployment } from './fixtures.ts'

const { database, asDispatcher, catalog } = await testDatabase()

beforeEach(async () => {
  await database.query(
    'DELETE FROM log_chunks; DELETE FROM command_results; DELETE FROM run_progress; DELETE FROM dropped_deployments',
  )
  await addInstance(database, 100)
  await apply({ logDays: 1 })
})

const nothing: RetentionRules = {
  logDays: null,
  resultDays: null,
  deploymentDays: null,
  auditDays: null,
  keepDeployments: 0,
}
const apply = (rules: Partial<RetentionRules>) =>
  retain({
    database: asDispatcher,
    rules: { ...nothing, ...rules },
    logger: testLogger,
    signal: new AbortController().signal,
  })
const find = (rules: Partial<RetentionRules>) => findDroppable(asDispatcher, { ...nothing, ...rules })

/** A deployment of six steps with results and two chunks of lines, ended so many days ago; `null`: it still runs. */
async function deployed(daysAgo: number | null, source = catalog.action_id): Promise<string> {
  const command = startCommand({ ...catalog, action_id: source }, {})
  const outcome = await startDeployment(database, command, { request_id: 'r' })
  if (outcome?.outcome !== 'started') throw new Error(`not started: ${JSON.stringify(outcome)}`)
  const id = command.command_id
  const { rows } = await database.query<{ epoch: number }>('SELECT epoch FROM leases WHERE deployment_id = $1', [id])
  const epoch = rows[0]?.epoch ?? 0
  await database.query(
    `INSERT INTO run_progress (deployment_id, epoch, next_line, ended_steps, completed_steps) VALUES ($1, $2, 4, 6, 6)
       ON CONFLICT (deployment_id) DO UPDATE SET next_line = 4, ended_steps = 6, completed_steps = 6`,
    [id, epoch],
  )
  const days = daysAgo ?? 200
  await database.query(
    `INSERT INTO command_results (deployment_id, target_index, action_index, status, stdout_tail, stderr_tail, started_at, completed_at)
     SELECT $1, t, a, 'completed', 'out', '', at, at
       FROM generate_series(0, 1) t, generate_series(0, 2) a, (SELECT now() - make_interval(days => $2) AS at) n`,
    [id, days],
  )
  await database.query(`SELECT partition_of(now() - make_interval(days => $1))`, [days])
  await database.query(
    `INSERT INTO log_chunks (deployment_id, first_line, line_count, lines, created_at)
     SELECT $1, n * 2, 2, '[{},{}]', now() - make_interval(days => $2) FROM generate_series(0, 1) n`,
    [id, days],
  )
  if (daysAgo !== null) {
    await database.query(
      `UPDATE steps SET state = 'completed', started_at = now(), completed_at = now() WHERE deployment_id = $1`,
      [id],
    )
    await database.transaction((tx) => deriveParts(tx, [id]))
    await finishDeployment(asDispatcher, { deployment_id: id, epoch, outcome: 'success', error_message: null })
  }
  await database.query(
    `UPDATE deployments SET created_at = created_at - make_interval(days => $2),
       started_at = started_at - make_interval(days => $2), completed_at = completed_at - make_interval(days => $2)
      WHERE id = $1`,
    [id, days],
  )
  return id
}

/** The partitions that a bridge would have made on those days. */
beforeAll(async () => {
  await database.query(`CREATE FUNCTION partition_of(at timestamptz) RETURNS void LANGUAGE plpgsql AS $$
    DECLARE day date := (at AT TIME ZONE 'UTC')::date;
    BEGIN
      EXECUTE format('CREATE TABLE IF NOT EXISTS %I PARTITION OF log_chunks FOR VALUES FROM (%L) TO (%L)',
        'log_chunks_' || to_char(day, 'YYYYMMDD'), day::timestamp AT TIME ZONE 'UTC', (day + 1)::timestamp AT TIME ZONE 'UTC');
    END $$`)
})

async function count(table: string, id?: string): Promise<number> {
  const column = table === 'deployments' || table === 'dropped_deployments' ? 'id' : 'deployment_id'
  const { rows } = await database.query<{ count: number }>(
    `SELECT count(*) AS count FROM ${table} WHERE $1::uuid IS NULL OR ${column} = $1`,
    [id ?? null],
  )
  return rows[0]?.count ?? 0
}
const CHILDREN = [
  'deployment_actions',
  'deployment_targets',
  'deployment_transitions',
  'steps',
  'leases',
  'run_progress',
  'command_results',
  'log_chunks',
]

describe('deployments', () => {
  test('leave the release in force and the one that it replaced, and no other releases', async () => {
    const ids = [await deployed(50), await deployed(40), await deployed(35), await deployed(32)]
    const releases = async () =>
      (
        await database.query<{ id: string; kept: number }>(
          'SELECT deployment_id AS id, count(*) AS kept FROM releases WHERE deployment_id = ANY ($1) GROUP BY 1',
          [ids],
        )
      ).rows
    expect(await releases()).toHaveLength(4)
    await apply({ deploymentDays: 30 })
    expect((await releases()).sort((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id))).toEqual([
      { id: ids[2], kept: 2 },
      { id: ids[3], kept: 2 },
    ])
    await database.query('DELETE FROM targets WHERE id = ANY ($1)', [catalog.target_ids.slice(0, 1)])
    await apply({ deploymentDays: 30 })
    expect(await releases()).toMatchObject([{ kept: 1 }, { kept: 1 }])
  })

  test('that are old are deleted with all their rows; younger and running ones stay, and the counts are exact', async () => {
    const old = await deployed(40)
    const young = await deployed(20)
    const running = await deployed(null)
    expect(await find({ deploymentDays: 30 })).toMatchObject({ deployments: 1, steps: 6 })
    expect(await apply({ deploymentDays: 30 })).toMatchObject({ deployments: 1, results: 0, days: 0 })
    for (const table of ['deployments', ...CHILDREN]) {
      expect([table, await count(table, old)]).toEqual([table, 0])
      expect([table, (await count(table, young)) > 0]).toEqual([table, true])
    }
    expect(await count('deployments', running)).toBe(1)
    expect(await count('dropped_deployments')).toBe(0)
    const totals = await database.query<{ state: string; count: number }>(
      'SELECT state, sum(count)::int AS count FROM deployment_counts GROUP BY 1 HAVING sum(count) <> 0 ORDER BY 1',
    )
    expect(totals.rows).toEqual([
      { state: 'running', count: 1 },
      { state: 'success', count: 1 },
    ])
    expect(await find({ deploymentDays: 30 })).toMatchObject({ deployments: 0, steps: 0 })
  })

  test('that are the latest of their source and environment stay, whatever their age', async () => {
    const other = await addCatalog(database)
    const [oldest, older, latest] = [await deployed(90), await deployed(80), await deployed(70)]
    const alone = await deployed(95, other.action_id)
    expect(await find({ deploymentDays: 30, keepDeployments: 2 })).toMatchObject({ deployments: 1 })
    await apply({ deploymentDays: 30, keepDeployments: 2 })
    expect(await count('deployments', oldest)).toBe(0)
    for (const id of [older, latest, alone]) expect(await count('deployments', id)).toBe(1)
  })

  test('that were dropped before a crash lose their remaining rows in the next run of retention', async () => {
    const old = await deployed(40)
    await database.transaction(async (tx) => {
      await tx.query('INSERT INTO dropped_deployments VALUES ($1)', [old])
      await tx.query('DELETE FROM deployments WHERE id = $1', [old])
    })
    expect(await count('steps', old)).toBe(6)
    await apply({ deploymentDays: 3_000 })
    for (const table of ['steps', 'command_results', 'log_chunks']) expect(await count(table, old)).toBe(0)
    expect(await count('dropped_deployments')).toBe(0)
  })

  test('and ended pending requests are deleted at the same age', async () => {
    const add = async (status: string, days: number) => {
      const id = await addPending(database, { status, command: { caller: ADMIN } })
      await database.query('UPDATE pending_requests SET created_at = now() - make_interval(days => $2) WHERE id = $1', [
        id,
        days,
      ])
    }
    await add('pending', 40)
    await add('cancelled', 40)
    await add('cancelled', 20)
    expect(await find({ deploymentDays: 30 })).toMatchObject({ requests: 1 })
    await apply({ deploymentDays: 30 })
    const { rows } = await database.query('SELECT status FROM pending_requests ORDER BY created_at')
    expect(rows).toEqual([{ status: 'pending' }, { status: 'cancelled' }])
  })
})

describe('log lines', () => {
  test('are dropped by day; the deployment, its results and its steps stay', async () => {
    const old = await deployed(40)
    const young = await deployed(20)
    const found = await find({ logDays: 30 })
    expect(found.days).toHaveLength(1)
    expect(found).toMatchObject({ results: 0, deployments: 0 })
    expect(await apply({ logDays: 30 })).toMatchObject({ days: 1 })
    expect(await count('log_chunks', old)).toBe(0)
    expect(await count('log_chunks', young)).toBe(2)
    expect(await count('command_results', old)).toBe(6)
    const left = await database.query('SELECT FROM pg_class WHERE relname = $1', [found.days[0]?.partition])
    expect(left.rowCount).toBe(0)
  })

  test('of a running deployment stay, and so do all lines since its begin', async () => {
    const running = await deployed(null)
    const old = await deployed(40)
    expect((await find({ logDays: 30 })).days).toEqual([])
    await apply({ logDays: 30 })
    expect(await count('log_chunks', running)).toBe(2)
    expect(await count('log_chunks', old)).toBe(2)
  })

  test('in the default partition are dropped too', async () => {
    const young = await deployed(20)
    await database.query(
      `INSERT INTO log_chunks (deployment_id, first_line, line_count, lines, created_at)
       SELECT $1, n, 1, '[{}]', now() - interval '400 days' FROM generate_series(100, 1200) n`,
      [young],
    )
    expect(await count('log_chunks_default', young)).toBe(1_101)
    await apply({ logDays: 30 })
    expect(await count('log_chunks', young)).toBe(2)
  })

  test('of a day that another transaction reads stay until the next run of retention', async () => {
    const old = await deployed(40)
    await database.transaction(async (tx) => {
      await tx.query('SELECT FROM log_chunks WHERE deployment_id = $1', [old])
      expect(await apply({ logDays: 30 })).toMatchObject({ days: 0 })
    })
    // Postgres may analyze the day by itself at this moment, which is a reader as well.
    await waitFor(async () => (await apply({ logDays: 30 }))?.days === 1, { what: 'the day is dropped' })
  })
})

test('command results are deleted at their own age, but not those of running deployments', async () => {
  const [old, young, running] = [await deployed(40), await deployed(20), await deployed(null)]
  expect(await find({ resultDays: 30 })).toMatchObject({ results: 6 })
  expect(await apply({ resultDays: 30 })).toMatchObject({ results: 6, deployments: 0 })
  expect(await count('command_results', old)).toBe(0)
  expect(await count('steps', old)).toBe(6)
  expect(await count('command_results', young)).toBe(6)
  expect(await count('command_results', running)).toBe(6)
})

test('one process at a time drops records, and each drop leaves an audit record', async () => {
  await deployed(40)
  const blocker = await database.pool.connect()
  try {
    await blocker.query(`SELECT pg_advisory_lock(${LOCK_KEYS.retention})`)
    expect(await apply({ deploymentDays: 30 })).toBeNull()
  } finally {
    blocker.release(true)
  }
  let done = await apply({ deploymentDays: 30 })
  // The lock ends with its connection. The server may notice the closed connection a moment later.
  while (done === null) done = await apply({ deploymentDays: 30 })
  expect(done).toMatchObject({ deployments: 1 })
  const { rows } = await database.query(
    `SELECT resource_id, details FROM audit_records WHERE action = 'retention.drop' AND resource_id = 'deployments'
      ORDER BY number DESC LIMIT 1`,
  )
  expect(rows).toEqual([
    { resource_id: 'deployments', details: { deployments: 1, older_than_days: 30, kept_of_each: 0 } },
  ])
  expect((await verifyAudit(database)).broken).toBe(0)
})

test('retention without limits drops nothing', async () => {
  await deployed(4_000)
  const nowhere = { days: [], results: 0, deployments: 0, steps: 0, requests: 0, auditRecords: 0 }
  expect(await find({})).toEqual(nowhere)
  expect(await apply({})).toEqual({ days: 0, results: 0, deployments: 0, auditRecords: 0 })
})
