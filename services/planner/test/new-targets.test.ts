import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { addLocalTargets, type OpenTestDatabase, openTestDatabase } from '@slipway/testing'
import { loadTargets } from '../src/records/targets.ts'
import { ADMIN } from './fixtures.ts'

/** So many that comparing each with all the others takes longer than a statement may. */
const TARGETS = 20_000

let server: OpenTestDatabase

beforeAll(async () => {
  server = await openTestDatabase()
  for (const table of ['targets', 'target_tags']) {
    await server.database.query(`ALTER TABLE ${table} SET (autovacuum_enabled = false)`)
  }
}, 60_000)
afterAll(() => server.drop())

test('targets of which Postgres has no statistics yet are found, by a tag and by id', async () => {
  const ids = await addLocalTargets(server.database, TARGETS)
  const fleet = { key: 'fleet', value: 'racks' }
  const [named = '', other = ''] = ids
  const target_ids = [named, named, other]
  const { records } = await loadTargets(server.database, ADMIN, { target_ids, target_tags: [fleet] })
  expect([...records.keys()].sort()).toEqual([...ids].sort())
  expect([...records.values()].filter(({ tags }) => JSON.stringify(tags) !== JSON.stringify([fleet]))).toEqual([])
  const untagged = await loadTargets(server.database, ADMIN, { target_ids, target_tags: [] })
  expect([...untagged.records.values()].map(({ id, tags }) => [id, tags]).sort()).toEqual(
    [named, other].sort().map((id) => [id, null]),
  )
}, 120_000)
