import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Queryable } from '@slipway/database'
import { type OpenTestDatabase, openTestDatabase, sqlOf } from '@slipway/testing'
import { loadSource } from '../src/records/sources.ts'
import { ADMIN, addSource, keyRing } from './fixtures.ts'

let server: OpenTestDatabase

beforeAll(async () => {
  server = await openTestDatabase()
})
afterAll(() => server.drop())

/** The variables of the latest version of an action, and the number of reads of definitions for them. */
async function load(id: string): Promise<{ variables: unknown; reads: number }> {
  let reads = 0
  const counted: Queryable = {
    query(statement, values) {
      if (sqlOf(statement).includes('v.definition')) reads += 1
      return server.as('planner').query(statement, values)
    },
  }
  const wanted = { source: { type: 'action' as const, id }, requirement: undefined, pins: undefined }
  const loaded = await loadSource(counted, keyRing, ADMIN, wanted)
  const latest = loaded?.catalog.actions.get(id)?.versions.at(-1)?.definition
  return { variables: latest?.variables, reads }
}

const script = (text: string, variables: object[]) => ({ type: 'script', script: text, variables })

test('a version is read once, but each time if it has secrets or is large; a new version is read at once', async () => {
  const plain = await addSource(server.database, { versions: { '1.0.0': script('true', [{ name: 'a' }]) } })
  expect(await load(plain.id)).toEqual({ variables: [{ name: 'a' }], reads: 1 })
  expect(await load(plain.id)).toEqual({ variables: [{ name: 'a' }], reads: 0 })
  await server.database.query(`INSERT INTO source_versions (source_id, version, definition) VALUES ($1, '1.1.0', $2)`, [
    plain.id,
    JSON.stringify(script('true', [{ name: 'b' }])),
  ])
  expect(await load(plain.id)).toEqual({ variables: [{ name: 'b' }], reads: 1 })

  const sealed = await addSource(server.database, {
    versions: { '1.0.0': script('true', [{ name: 'key', sensitive: true }]) },
    secrets: { '1.0.0': { key: 's3cret' } },
  })
  const opened = { variables: [{ name: 'key', sensitive: true, default: 's3cret' }], reads: 1 }
  expect([await load(sealed.id), await load(sealed.id)]).toEqual([opened, opened])

  const noise = Array.from({ length: 2_000 }, () => Math.random().toString(36)).join(' ')
  const large = await addSource(server.database, { versions: { '1.0.0': script(noise, []) } })
  expect([await load(large.id), await load(large.id)]).toEqual(Array(2).fill({ variables: [], reads: 1 }))
})
