import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { encodeSqid } from '@slipway/domain'
import { addLocalTargets, type OpenTestDatabase, openTestDatabase } from '@slipway/testing'
import { loadTargets } from '../src/records/targets.ts'
import { ADMIN } from './fixtures.ts'

/** So many that a comparison of each target with every other target exceeds the statement timeout. */
const TARGETS = 20_000

let server: OpenTestDatabase
let all: string[]

beforeAll(async () => {
  server = await openTestDatabase()
  for (const table of ['targets', 'target_tags']) {
    await server.database.query(`ALTER TABLE ${table} SET (autovacuum_enabled = false)`)
  }
  all = await addLocalTargets(server.database, TARGETS)
})
afterAll(() => server.drop())

test('targets without statistics in Postgres are found by tag and by id', async () => {
  const fleet = { key: 'fleet', value: 'racks' }
  const [named = '', other = ''] = all
  const target_ids = [named, named, other]
  const { records } = await loadTargets(server.as('planner'), ADMIN, { target_ids, target_tags: [fleet] })
  expect([...records.keys()].sort()).toEqual([...all].sort())
  expect([...records.values()].filter(({ tags }) => JSON.stringify(tags) !== JSON.stringify([fleet]))).toEqual([])
  const untagged = await loadTargets(server.as('planner'), ADMIN, { target_ids, target_tags: [] })
  expect([...untagged.records.values()].map(({ id, tags }) => [id, tags]).sort()).toEqual(
    [named, other].sort().map((id) => [id, null]),
  )
})

test('ten thousand ids in any form find their targets in order', async () => {
  const ids = all.slice(0, 10_000)
  const [first = '', second = ''] = ids
  await server.database.query(`INSERT INTO target_tags VALUES ($1, 'one', 'of them')`, [ids.at(-1)])
  const { rows } = await server.database.query('SELECT number FROM targets WHERE id = $1', [first])
  const sqid = encodeSqid('target', rows[0]?.['number'])
  const target_ids = [...ids, sqid, second.toUpperCase(), 'nothing', encodeSqid('target', 2_000_000_000)]
  const target_tags = [{ key: 'one', value: 'of them' }]
  const { records, uuids } = await loadTargets(server.as('planner'), ADMIN, { target_ids, target_tags })
  expect(uuids).toEqual([...ids, first, second, undefined, undefined])
  expect([...records.keys()].sort()).toEqual([...ids].sort())
  expect([...records.values()].filter(({ tags }) => tags !== null)).toMatchObject([
    { id: ids.at(-1), tags: target_tags, enabled: true },
  ])
})
