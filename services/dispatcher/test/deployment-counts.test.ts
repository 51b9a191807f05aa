import { beforeEach, expect, test } from '@jest/globals'
import { uuidv7 } from '@slipway/runtime'
import { cancelDeployment } from '../src/deployments/cancel.ts'
import { foldCounts } from '../src/deployments/counts.ts'
import { finishDeployment } from '../src/deployments/finish.ts'
import { testDatabase } from './database.ts'
import { ADMIN, addInstance, clear, liveLease, startCommand, startDeployment } from './fixtures.ts'

const { database, asDispatcher, catalog } = await testDatabase()

beforeEach(async () => {
  await clear(database)
  await database.query('DELETE FROM deployment_counts')
})

const counted = async () =>
  (
    await database.query(
      `SELECT state, sum(count)::int AS count FROM deployment_counts GROUP BY 1 HAVING sum(count) <> 0 ORDER BY 1`,
    )
  ).rows
const stored = async () =>
  (await database.query('SELECT state, count(*)::int AS count FROM deployments GROUP BY 1 ORDER BY 1')).rows
const rows = async () => (await database.query('SELECT FROM deployment_counts')).rowCount ?? 0

async function started(): Promise<string> {
  const command = startCommand(catalog)
  await startDeployment(database, command, { request_id: null })
  return command.command_id
}

async function finish(id: string) {
  const { epoch = 0 } = (await liveLease(database, id)) ?? {}
  await finishDeployment(asDispatcher, {
    deployment_id: id,
    epoch,
    outcome: 'success',
    reason: null,
    error_message: null,
  })
}

const cancel = (id: string) =>
  cancelDeployment(asDispatcher, { deployment_id: id, caller: ADMIN }, { command_id: uuidv7(), request_id: null })

test('the counts of lists equal the deployments, under concurrent starts, ends and folds', async () => {
  await addInstance(database, 40)
  const work = async (n: number) => {
    const id = await started()
    await foldCounts(asDispatcher)
    if (n % 3 === 0) await finish(id)
    if (n % 3 === 1) await cancel(id)
  }
  await Promise.all(Array.from({ length: 30 }, (_, n) => work(n)))
  // A start that finds all free slots locked by others is queued.
  expect((await counted()).map(({ state }) => state)).toEqual(['running', 'success', 'cancelled'])
  expect(await counted()).toEqual(await stored())
})

test('a fold leaves one row of each kind, and waits until there are many', async () => {
  await addInstance(database, 2)
  const id = await started()
  await finish(id)
  await foldCounts(asDispatcher)
  expect(await rows()).toBe(3)
  await database.query(
    `INSERT INTO deployment_counts (source_type, state, count) SELECT 'action', 'failed', 1 FROM generate_series(1, 100)`,
  )
  await foldCounts(asDispatcher)
  expect(await rows()).toBe(2)
  expect(await counted()).toEqual([
    { state: 'success', count: 1 },
    { state: 'failed', count: 100 },
  ])
})

test('a start adds the name by which lists search', async () => {
  await addInstance(database, 2)
  await started()
  await started()
  const { rows } = await database.query('SELECT n.source_name FROM deployment_names n')
  expect(rows).toEqual((await database.query('SELECT DISTINCT source_name FROM deployments')).rows)
})
