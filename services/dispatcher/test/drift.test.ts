import { beforeEach, expect, test } from '@jest/globals'
import { deriveParts } from '@slipway/database'
import { uuidv7 } from '@slipway/runtime'
import { testLogger as logger } from '@slipway/testing'
import { cancelDeployment } from '../src/deployments/cancel.ts'
import { finishDeployment } from '../src/deployments/finish.ts'
import { requestReleaseChecks } from '../src/drift/request.ts'
import { watchDrift } from '../src/drift/watch.ts'
import { testDatabase } from './database.ts'
import { ADMIN, addInstance, liveLease, startCommand, startDeployment } from './fixtures.ts'

const { database, asDispatcher, catalog } = await testDatabase()
const { action_id, target_ids } = catalog

beforeEach(async () => {
  await database.query('DELETE FROM release_checks; DELETE FROM release_heads; DELETE FROM releases')
  await declare({ script: 'true', timeout_seconds: 7, interval_seconds: 600 })
  await addInstance(database, 10)
})

/** Gives the action of the catalog this check. */
const declare = (check: object | undefined) =>
  database.query(`UPDATE source_versions SET definition = $2 WHERE source_id = $1`, [
    action_id,
    JSON.stringify({ type: 'script', script: 'false', check }),
  ])

/** Deploys to both targets, with success. */
async function deploy(): Promise<string> {
  const command = startCommand(catalog)
  await startDeployment(database, command, { request_id: null })
  const id = command.command_id
  await database.query(
    `UPDATE steps SET state = 'completed', started_at = clock_timestamp(), completed_at = clock_timestamp()
      WHERE deployment_id = $1`,
    [id],
  )
  await database.transaction((tx) => deriveParts(tx, [id]))
  await end(id)
  return id
}

async function end(id: string) {
  const lease = await liveLease(database, id)
  const run = { deployment_id: id, epoch: lease?.epoch ?? 0 }
  return finishDeployment(asDispatcher, { ...run, outcome: 'success', reason: null, error_message: null })
}

/** Ends a check with these exit codes of its first action, by target; null: the command has no exit code. */
async function endCheck(id: string, exitCodes: (number | null)[]) {
  await database.query(
    `UPDATE steps SET state = CASE WHEN action_index > 0 OR exit.code = 0 THEN 'completed' ELSE 'failed' END::step_state,
            exit_code = CASE WHEN action_index > 0 THEN 0 ELSE exit.code END,
            started_at = clock_timestamp(), completed_at = clock_timestamp()
       FROM unnest($2::int[]) WITH ORDINALITY AS exit (code, place)
      WHERE deployment_id = $1 AND target_index = exit.place - 1`,
    [id, exitCodes],
  )
  return end(id)
}

const look = (every = 0) => watchDrift({ database: asDispatcher, logger, every, onCommitted: () => {} })

interface CheckRow {
  target_id: string
  deployment_id: string | null
  run_id: string | null
  result: string | null
  drifted_since: Date | null
  is_due: boolean
  seconds: number | null
}

async function checks(): Promise<CheckRow[]> {
  const { rows } = await database.query<CheckRow>(
    `SELECT *, next_at <= now() AS is_due, extract(epoch FROM next_at - now())::float8 AS seconds FROM release_checks
      ORDER BY array_position($1::uuid[], target_id)`,
    [target_ids],
  )
  return rows
}

const makeDue = () => database.query(`UPDATE release_checks SET next_at = now() - interval '1 s'`)

async function running(): Promise<string[]> {
  const { rows } = await database.query<{ id: string }>(
    'SELECT id FROM deployments WHERE is_check AND completed_at IS NULL ORDER BY id',
  )
  return rows.map(({ id }) => id)
}

const events = async () =>
  (await database.query<{ type: string }>(`SELECT type FROM outbox WHERE type LIKE 'release.%' ORDER BY id`)).rows.map(
    ({ type }) => type,
  )

test('the first check of all targets of a deployment is due at the same time, within the interval of the action', async () => {
  await deploy()
  await look()
  const [first, second] = await checks()
  expect(first?.seconds).toBeGreaterThan(290)
  expect(first?.seconds).toBeLessThan(601)
  expect(second?.seconds).toBe(first?.seconds)
  expect(await running()).toEqual([])
})

test('without an interval the setting applies; without both, no check is due', async () => {
  await declare({ script: 'true' })
  await deploy()
  await look()
  expect(await checks()).toMatchObject([{ seconds: null }, { seconds: null }])
  await look(3_600)
  const [{ seconds } = { seconds: null }] = await checks()
  expect(seconds).toBeGreaterThan(1_790)
  await makeDue()
  await look(0)
  expect(await running()).toEqual([])
  await look(3_600)
  expect(await running()).toHaveLength(1)
})

test('a source without a check script gets no checks', async () => {
  await declare(undefined)
  await deploy()
  await look(60)
  expect(await checks()).toEqual([])
})

test('one of several dispatchers starts a due check of all targets with the variables of the deployment', async () => {
  const deployment = await deploy()
  await look()
  await makeDue()
  await Promise.all([look(), look(), look()])
  const [run, ...others] = await running()
  expect(others).toEqual([])
  expect(await checks()).toMatchObject([{ run_id: run }, { run_id: run }])
  const { rows } = await database.query(
    `SELECT d.source_deployment_id, d.total_steps, d.analysis_enabled, d.plan_head #>> '{sealed_under}' AS sealed_under,
            d.plan_head #>> '{options,failure_strategy}' AS failure_strategy, a.timeout_seconds, a.max_retries,
            a.variables, t.variables AS own
       FROM deployments d JOIN deployment_actions a ON a.deployment_id = d.id AND a.action_index = 2
       JOIN deployment_targets t ON t.deployment_id = d.id AND t.target_index = 1 WHERE d.id = $1`,
    [run],
  )
  expect(rows).toEqual([
    {
      source_deployment_id: deployment,
      total_steps: 6,
      analysis_enabled: false,
      sealed_under: deployment,
      failure_strategy: 'ignore_failures',
      timeout_seconds: 7,
      max_retries: 0,
      variables: { colour: 'blue' },
      own: { port: 1 },
    },
  ])
  // The next check is one interval later: missed checks are not repeated.
  const [{ seconds } = { seconds: null }] = await checks()
  expect(seconds).toBeGreaterThan(500)
})

test('a check that still runs is not started again', async () => {
  await deploy()
  await look()
  await makeDue()
  await look()
  const before = await running()
  await makeDue()
  await look()
  expect(await running()).toEqual(before)
})

test('exit code 1 means drifted, with one event; 0 ends the drift; other codes give the result unknown', async () => {
  await deploy()
  const round = async (...exitCodes: (number | null)[]) => {
    await look()
    await makeDue()
    await look()
    const [run] = await running()
    await endCheck(run ?? '', exitCodes)
    await look()
    return (await checks()).map(({ result, drifted_since }) => [result, drifted_since !== null])
  }
  expect(await round(0, 1)).toEqual([
    ['in_sync', false],
    ['drifted', true],
  ])
  expect(await round(null, 1)).toEqual([
    ['unknown', false],
    ['drifted', true],
  ])
  expect(await round(2, 127)).toEqual([
    ['unknown', false],
    ['unknown', true],
  ])
  expect(await events()).toEqual(['release.drifted'])
  expect(await round(0, 0)).toEqual([
    ['in_sync', false],
    ['in_sync', false],
  ])
  expect(await events()).toEqual(['release.drifted', 'release.restored'])
})

test('the result of a check of an earlier deployment changes nothing', async () => {
  await deploy()
  await look()
  await makeDue()
  await look()
  const [run] = await running()
  const second = await deploy()
  expect(await checks()).toMatchObject([
    { deployment_id: second, run_id: null },
    { deployment_id: second, run_id: null },
  ])
  await endCheck(run ?? '', [1, 1])
  await look()
  expect(await checks()).toMatchObject([{ result: null }, { result: null }])
  expect(await events()).toEqual([])
})

test('a new deployment ends the drift, and an event announces the end', async () => {
  await deploy()
  await look()
  await makeDue()
  await look()
  await endCheck((await running())[0] ?? '', [1, 0])
  await look()
  await deploy()
  await look()
  expect(await checks()).toMatchObject([{ result: null, drifted_since: null }, { drifted_since: null }])
  expect(await events()).toEqual(['release.drifted', 'release.restored'])
})

test('a check of a target that a deployment changes is not started, and its result is ignored', async () => {
  await deploy()
  await look()
  await makeDue()
  await look()
  const [run] = await running()
  const command = startCommand(catalog)
  await startDeployment(database, command, { request_id: null })
  await database.query(
    `UPDATE steps SET state = 'running', started_at = clock_timestamp()
      WHERE deployment_id = $1 AND target_index = 0 AND action_index = 0`,
    [command.command_id],
  )
  await database.transaction((tx) => deriveParts(tx, [command.command_id]))
  await endCheck(run ?? '', [1, 1])
  await look()
  expect(await checks()).toMatchObject([
    { run_id: null, result: null, drifted_since: null },
    { run_id: null, result: 'drifted' },
  ])
  await makeDue()
  await look()
  const [first, second] = await checks()
  expect([first?.run_id, second?.run_id]).toEqual([null, (await running())[0]])
})

test('a cancelled check has the result unknown and publishes no deployment.updated', async () => {
  await deploy()
  await look()
  await makeDue()
  await look()
  const [run] = await running()
  const received = { command_id: uuidv7(), deadline: undefined, request_id: null }
  await cancelDeployment(asDispatcher, { deployment_id: run ?? '', caller: ADMIN }, received as never)
  await look()
  expect(await checks()).toMatchObject([{ run_id: null, result: 'unknown' }, { result: 'unknown' }])
  const { rows } = await database.query(
    `SELECT FROM outbox WHERE type = 'deployment.updated' AND body ->> 'deployment_id' = $1`,
    [run],
  )
  expect(rows).toEqual([])
})

test('a check is deleted some time after its end, with its steps and leases', async () => {
  await deploy()
  await look()
  await makeDue()
  await look()
  const [run] = await running()
  // The metric of deployments does not count the outcome `checked`.
  expect(await endCheck(run ?? '', [0, 0])).toBe('checked')
  await look()
  const left = async () => {
    const { rows } = await database.query<{ left: number }>(
      `SELECT ((SELECT count(*) FROM deployments WHERE id = $1) + (SELECT count(*) FROM steps WHERE deployment_id = $1)
             + (SELECT count(*) FROM leases WHERE deployment_id = $1))::int AS left`,
      [run],
    )
    return rows[0]?.left
  }
  expect(await left()).toBe(8)
  await database.query(`UPDATE deployments SET completed_at = now() - interval '2 minutes' WHERE id = $1`, [run])
  await look()
  expect(await left()).toBe(0)
  expect(await checks()).toMatchObject([{ result: 'in_sync' }, { result: 'in_sync' }])
})

test('a deployment that retention has deleted cannot be checked', async () => {
  const id = await deploy()
  await look()
  await database.query('DELETE FROM deployments WHERE id = $1', [id])
  await makeDue()
  await look()
  expect(await checks()).toMatchObject([{ run_id: null, result: 'unknown' }, { result: 'unknown' }])
  expect(await running()).toEqual([])
})

test('a requested check covers only releases that the caller sees, starts at once, and leaves an audit record', async () => {
  await deploy()
  const ask = (tenant_id: string | null, more: object) =>
    requestReleaseChecks(
      asDispatcher,
      { caller: { ...ADMIN, tenant_id }, source_id: null, target_ids: null, ...more },
      { command_id: uuidv7(), deadline: undefined, request_id: null } as never,
    )
  await ask(catalog.tenant_id, { source_id: action_id })
  await ask(null, { source_id: uuidv7() })
  await look()
  expect(await running()).toEqual([])
  await ask(null, { target_ids: [target_ids[1]] })
  await look()
  const [first, second] = await checks()
  expect([first?.run_id, second?.run_id]).toEqual([null, (await running())[0]])
  const { rows } = await database.query(
    `SELECT details ->> 'releases' AS releases FROM audit_records WHERE action = 'release.check' ORDER BY number`,
  )
  expect(rows).toEqual([{ releases: '0' }, { releases: '0' }, { releases: '1' }])
})

test('a check waits for a free slot', async () => {
  await deploy()
  await look()
  await makeDue()
  await database.query('UPDATE instances SET draining = true')
  await look()
  expect(await checks()).toMatchObject([{ run_id: null, is_due: true }, { run_id: null }])
  await database.query('UPDATE instances SET draining = false')
  await look()
  expect(await running()).toHaveLength(1)
})

test('checks of a tenant take at most two places and delay no check of other tenants, whichever are due longest', async () => {
  const tenants = [uuidv7(), uuidv7()]
  await database.query(
    'INSERT INTO tenants (id, name, slug) SELECT id::uuid, id, id FROM unnest($1::text[]) AS t (id)',
    [tenants],
  )
  const [slow, other] = tenants as [string, string]
  const ownedBy = async (tenant: string | null) => {
    const id = await deploy()
    await database.query('UPDATE deployments SET tenant_id = $2 WHERE id = $1', [id, tenant])
    return id
  }
  const addCheck = (deployment: string, seconds: number) =>
    database.query(
      `WITH head AS (
         INSERT INTO release_heads (target_id, source_id, latest_deployment_id) VALUES ($1, gen_random_uuid(), $2)
         RETURNING target_id, source_id)
       INSERT INTO release_checks (target_id, source_id, deployment_id, interval_seconds, requested, next_at)
       SELECT target_id, source_id, $2, 600, true, now() - make_interval(secs => $3) FROM head`,
      [target_ids[0], deployment, seconds],
    )
  const owned: [string | null, number][] = [
    ...Array.from({ length: 6 }, (_, n): [string, number] => [slow, 1_000 + n]),
    ...[other, null, other, null, other].map((tenant, n): [string | null, number] => [tenant, n]),
  ]
  const deployments: [string, number][] = []
  for (const [tenant, seconds] of owned) deployments.push([await ownedBy(tenant), seconds])
  await database.query('DELETE FROM release_checks')
  for (const [deployment, seconds] of deployments) await addCheck(deployment, seconds)
  const tenantsOfRuns = async () =>
    (
      await database.query<{ tenant: string }>(
        `SELECT coalesce(tenant_id::text, '') AS tenant FROM deployments WHERE is_check AND completed_at IS NULL ORDER BY id`,
      )
    ).rows.map(({ tenant }) => tenant)
  await look()
  // Each tenant gets its first check, and the one that is due longest the place that is left.
  expect(await tenantsOfRuns()).toEqual([slow, other, '', slow])
  await look()
  expect(await tenantsOfRuns()).toHaveLength(4)
  // With all places taken, a tenant without a running check still starts one.
  await database.query(
    'UPDATE deployments SET tenant_id = $1 WHERE is_check AND completed_at IS NULL AND tenant_id = $2',
    [...[slow, other]],
  )
  await look()
  expect((await tenantsOfRuns()).sort()).toEqual(['', slow, slow, slow, other].sort())
})

test.each([
  [{ timeout_seconds: 900 }, {}, 300],
  [{}, { timeout_seconds: 3_600 }, 300],
  [{}, { timeout_seconds: 120 }, 120],
  [{ timeout_seconds: 7 }, { timeout_seconds: 120 }, 7],
  [{}, {}, 60],
])('a check %p of an action %p ends after %p seconds', async (check, action, seconds) => {
  await database.query('UPDATE source_versions SET definition = $2 WHERE source_id = $1', [
    action_id,
    JSON.stringify({
      type: 'script',
      script: 'false',
      ...action,
      check: { script: 'true', interval_seconds: 600, ...check },
    }),
  ])
  await deploy()
  await look()
  await makeDue()
  await look()
  const [run] = await running()
  const { rows } = await database.query<{ timeout_seconds: number }>(
    'SELECT timeout_seconds FROM deployment_actions WHERE deployment_id = $1 ORDER BY action_index LIMIT 1',
    [run],
  )
  expect(rows).toEqual([{ timeout_seconds: seconds }])
})
