import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { compareVersions, resolveVersion } from '@slipway/domain'
import type pg from 'pg'
import {
  addTenant,
  type Client,
  clientOf,
  refusal,
  refused,
  startGateway,
  type TestGateway,
  UNKNOWN_ID,
} from './setup.ts'

let gateway: TestGateway
let admin: Client
let reader: Client
/** The number of rows that Postgres sent for callers of a tenant. */
let rowsRead = 0

beforeAll(async () => {
  gateway = await startGateway()
  admin = clientOf(gateway, gateway.adminToken)
  reader = (await addTenant(gateway, 'reader')).admin
  // Callers without a tenant use other connections. Their rows do not count here.
  const known = new WeakSet<pg.PoolClient>()
  gateway.dependencies.database.pool.on('acquire', (client) => {
    if (known.has(client)) return
    known.add(client)
    const { connection } = client as unknown as { connection: NodeJS.EventEmitter }
    connection.on('dataRow', () => {
      rowsRead += 1
    })
  })
})
afterAll(() => gateway.close())

const definition = { type: 'script', script: 'true' }

async function newAction(name: string, more: object = {}) {
  const { body } = await admin.send('createAction', '/actions', { name, version: '0.0.1', definition, ...more })
  return body as { id: string; sqid: string }
}

/** Inserts versions from an earlier time, one millisecond apart. */
const publish = (id: string, versions: readonly string[]) =>
  gateway.database.query(
    `INSERT INTO source_versions (source_id, version, definition, created_at)
     SELECT $1, version, $3, timestamptz '2026-01-01' + place * interval '1 ms'
     FROM unnest($2::text[]) WITH ORDINALITY AS v (version, place)`,
    [id, versions, JSON.stringify(definition)],
  )

const read = async (path: string, operation: 'listActions' | 'listActionVersions' = 'listActions') => {
  rowsRead = 0
  const { body } = await reader.send(operation, path)
  return { ...body, rowsRead }
}

/** A reproducible sequence of random numbers from 0 to 1. */
function randomNumbers(seed: number) {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return state / 2 ** 31
  }
}

test('Postgres orders versions as semver does', async () => {
  const random = randomNumbers(20_261_122)
  const pick = <T>(values: readonly T[]) => values[Math.floor(random() * values.length)] as T
  const number = () => pick(['0', '1', '2', '9', '10', '11', '99', '100', '4294967296', '9007199254740991'])
  const identifier = () => pick([number(), 'alpha', 'alpha-1', 'beta', 'B', '0a', '1-0', '-', '--', 'rc', 'x'])
  const versions = new Set([
    ...[
      '1.0.0-alpha',
      '1.0.0-alpha.1',
      '1.0.0-alpha.beta',
      '1.0.0-beta',
      '1.0.0-beta.2',
      '1.0.0-beta.11',
      '1.0.0-rc.1',
    ],
    ...Array.from({ length: 500 }, () => {
      const core = [number(), number(), number()].join('.')
      const prerelease = Array.from({ length: Math.floor(random() * 4) }, identifier).join('.')
      return prerelease === '' ? core : `${core}-${prerelease}`
    }),
  ])
  const { rows } = await gateway.database.query<{ version: string }>(
    'SELECT version FROM unnest($1::text[]) AS version ORDER BY version_precedence(version) COLLATE "C"',
    [[...versions]],
  )
  const ordered = rows.map(({ version }) => version)
  expect(ordered).toHaveLength(versions.size)
  for (let at = 1; at < ordered.length; at += 1) {
    const pair = [ordered[at - 1] ?? '', ordered[at] ?? ''] as const
    expect({ pair, order: compareVersions(...pair) }).toEqual({ pair, order: -1 })
  }
})

describe('a list of sources', () => {
  const versions = Array.from({ length: 300 }, (_, n) => `${n % 7}.${n}.0${n % 3 === 0 ? `-rc.${n}` : ''}`)

  test('shows the latest version of each source and reads no row of the other versions', async () => {
    const names = Array.from({ length: 12 }, (_, n) => `listed ${n}`)
    for (const name of names) await publish((await newAction(name)).id, versions)
    await read('/actions?search=listed')
    const page = await read('/actions?search=listed&limit=5&page=2')
    expect(page.data.map(({ name, latest_version }: Record<string, string>) => [name, latest_version])).toEqual(
      names
        .toReversed()
        .slice(5, 10)
        .map((name) => [name, resolveVersion(versions)]),
    )
    expect(page.meta).toEqual({ total: 12, page: 2, limit: 5, total_pages: 3, has_next: true, has_prev: true })
    // Five sources and their total.
    expect(page.rowsRead).toBe(6)
  })

  test('shows null for a source with prereleases only', async () => {
    await newAction('unripe', { version: '1.0.0-rc.1' })
    expect((await read('/actions?search=unripe')).data).toMatchObject([{ latest_version: null }])
  })

  test('does not interpret wildcards of the search, and returns the total for a page beyond the end', async () => {
    await newAction('100% _done_')
    for (const [search, total] of [
      ['100%25%20_DONE_', 1],
      ['%25', 1],
      ['_d', 1],
      ['0%25d', 0],
    ] as const) {
      const { data, meta } = await read(`/actions?search=${search}&limit=1&page=99999999999`)
      expect({ search, data, total: meta.total }).toEqual({ search, data: [], total })
    }
  })

  test('shows a tenant its own and shared sources', async () => {
    const [a, b] = [await addTenant(gateway, 'paging a'), await addTenant(gateway, 'paging b')]
    await newAction('walls of a', { tenant_id: a.id })
    await newAction('walls shared')
    const names = async ({ admin: client }: typeof a) =>
      (await client.send('listActions', '/actions?search=walls')).body.data.map(({ name }: { name: string }) => name)
    expect([await names(a), await names(b)]).toEqual([['walls shared', 'walls of a'], ['walls shared']])
  })
})

describe('a list of versions', () => {
  test('is read page by page, newest first', async () => {
    const { id, sqid } = await newAction('many versions')
    const versions = Array.from({ length: 500 }, (_, n) => `1.${n}.0`)
    await publish(id, versions)
    const path = `/actions/${sqid}/versions`
    await read(path, 'listActionVersions')
    const page = await read(`${path}?limit=10&page=3`, 'listActionVersions')
    // The newest version is the one that created the action.
    const newestFirst = ['0.0.1', ...versions.toReversed()]
    expect(page.data.map(({ version }: { version: string }) => version)).toEqual(newestFirst.slice(20, 30))
    expect(page.meta).toMatchObject({ total: 501, total_pages: 51 })
    expect(page.rowsRead).toBe(11)
    const found = await read(`${path}?search=.49&limit=100`, 'listActionVersions')
    expect(found.meta.total).toBe(11)
    expect((await read(`${path}?page=999`, 'listActionVersions')).data).toEqual([])
  })

  test('orders versions of the same time by their precedence', async () => {
    const { id } = await newAction('one moment')
    const versions = ['1.9.0', '1.10.0', '1.10.0-rc.2', '1.10.0-rc.10']
    await publish(id, versions)
    await gateway.database.query(`UPDATE source_versions SET created_at = '2026-02-02' WHERE source_id = $1`, [id])
    const page = await read(`/actions/${id}/versions`, 'listActionVersions')
    const expected = ['1.10.0', '1.10.0-rc.10', '1.10.0-rc.2', '1.9.0', '0.0.1']
    expect(page.data.map(({ version }: { version: string }) => version)).toEqual(expected)
  })

  test('is 404 for a source that the caller does not see', async () => {
    const [a, b] = [await addTenant(gateway, 'versions a'), await addTenant(gateway, 'versions b')]
    const { id, sqid } = await newAction('versions of a', { tenant_id: a.id })
    for (const key of [id, sqid]) {
      expect((await a.admin.send('listActionVersions', `/actions/${key}/versions`)).body.meta.total).toBe(1)
      expect(refusal(await b.admin.send('listActionVersions', `/actions/${key}/versions`))).toEqual(
        refused(404, 'NOT_FOUND'),
      )
    }
    for (const key of [UNKNOWN_ID, 'nonsense']) {
      expect(refusal(await admin.send('listActionVersions', `/actions/${key}/versions`))).toEqual(
        refused(404, 'NOT_FOUND'),
      )
    }
    expect(refusal(await admin.send('listSequenceVersions', `/sequences/${id}/versions`))).toEqual(
      refused(404, 'NOT_FOUND'),
    )
  })
})
