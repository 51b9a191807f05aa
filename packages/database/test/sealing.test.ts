import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { KeyRing, SecretError, uuidv7 } from '@slipway/runtime'
import { addPending, type OpenTestDatabase, openTestDatabase, waitFor } from '@slipway/testing'
import { type Database, resealAll } from '../src/index.ts'
import { SEALED_PLACES } from '../src/sealing/sealed-places.ts'

const [oldKey, newKey] = ['old', 'new'].map((id) => `${id}:${randomBytes(32).toString('base64')}`)
const before = KeyRing.parse(`${oldKey}`)
const both = KeyRing.parse(`${newKey},${oldKey}`)
const after = KeyRing.parse(`${newKey}`)

let server: OpenTestDatabase
let database: Database

beforeAll(async () => {
  server = await openTestDatabase()
  database = server.database
})
afterAll(() => server.drop())

const sealed = (text = 'secret') => before.seal(text, 'somewhere')
const ids = { source: uuidv7(), deployment: uuidv7() }

beforeEach(async () => {
  const tables = [
    'deployment_targets',
    'deployment_actions',
    'deployments',
    'pending_requests',
    'webhooks',
    'instances',
  ]
  for (const table of [...tables, 'targets', 'environments', 'tenants', 'source_versions', 'sources', 'users']) {
    await database.query(`DELETE FROM ${table}`)
  }
})

/** Writes a secret to every sealed column, as the services do. */
async function plant(): Promise<void> {
  const value = (names: string[]) =>
    JSON.stringify(Object.fromEntries(names.map((name) => [name, { $sealed: sealed() }])))
  await database.query(
    `INSERT INTO users (id, email, username, display_name, password_hash, totp_sealed, updated_at)
     VALUES ($1, 'a@example.com', 'a', 'A', '', $2, now())`,
    [uuidv7(), sealed()],
  )
  await database.query(
    `INSERT INTO tenants (id, name, slug, variables_sealed, updated_at) VALUES ($1, 't', 't', $2, now())`,
    [uuidv7(), sealed()],
  )
  await database.query(
    `INSERT INTO environments (id, name, variables_sealed, updated_at) VALUES ($1, 'e', $2, now())`,
    [uuidv7(), sealed()],
  )
  await database.query(
    `INSERT INTO targets (id, name, connection, variables_sealed, connection_secrets, updated_at)
     VALUES ($1, 't', '{}', $2, $3, now())`,
    [uuidv7(), sealed(), sealed()],
  )
  await database.query(
    `WITH made AS (
       INSERT INTO agent_grants (id, target_id, token_hash, expires_at) SELECT $1, id, '', now() FROM targets RETURNING *)
     INSERT INTO agents (id, target_id, grant_id, host, port, version, key_sealed, credential_hash)
     SELECT $1, target_id, id, '', 1, '', $2, '' FROM made`,
    [uuidv7(), sealed()],
  )
  await database.query(`INSERT INTO sources (id, kind, name, updated_at) VALUES ($1, 'action', 's', now())`, [
    ids.source,
  ])
  for (const version of ['1.0.0', '1.1.0']) {
    await database.query(
      `INSERT INTO source_versions (source_id, version, definition, secrets) VALUES ($1, $2, '{}', $3)`,
      [ids.source, version, version === '1.0.0' ? sealed() : null],
    )
  }
  await database.query(
    `INSERT INTO webhooks (id, url, events, secret_sealed) VALUES ($1, 'https://example.com', '{}', $2)`,
    [uuidv7(), sealed()],
  )
  await addPending(database, {
    command: {
      plan: { targets: [{ variables: JSON.parse(value(['a', 'b'])) }] },
      note: `"$sealed": "${'x'.repeat(9)}"`,
    },
  })
  await database.query(
    `INSERT INTO deployments (id, state, source_type, source_id, source_name, source_version, plan_head, selection, total_steps)
     VALUES ($1, 'running', 'action', $2, 's', '1.0.0', $3, '{}', 1)`,
    [
      ids.deployment,
      ids.source,
      `{"override_variables": ${value(['a'])}, "shared_variables": {"x": {"$sealed": "mine"}}}`,
    ],
  )
  await database.query(
    `INSERT INTO deployment_actions (deployment_id, action_index, sequence_id, sequence_name, sequence_version, sequence_order,
       action_id, action_name, action_version, action_order, timeout_seconds, max_retries, has_rollback, variables)
     VALUES ($1, 0, $2, 's', '1.0.0', 0, $2, 's', '1.0.0', 0, 60, 0, false, $3)`,
    [ids.deployment, ids.source, value(['a'])],
  )
  await database.query(
    `INSERT INTO deployment_targets (deployment_id, target_index, target_id, target_name, variables)
     SELECT $1, i, gen_random_uuid(), 't', $2::jsonb FROM generate_series(0, 1200) i`,
    [ids.deployment, value(['a'])],
  )
}

/** Counts the rows that contain the text, for each column that can hold text. */
async function occurrences(text: string): Promise<Record<string, number>> {
  const { rows } = await database.query<{ table: string; column: string }>(
    `SELECT c.table_name AS table, c.column_name AS column FROM information_schema.columns c
       JOIN information_schema.tables t USING (table_schema, table_name)
      WHERE c.table_schema = 'public' AND t.table_type = 'BASE TABLE' AND c.data_type IN ('text', 'jsonb', 'json', 'ARRAY')`,
  )
  const found: Record<string, number> = {}
  for (const { table, column } of rows) {
    const { rows: counted } = await database.query<{ count: number }>(
      `SELECT count(*) AS count FROM "${table}" WHERE "${column}"::text LIKE '%' || $1 || '%'`,
      [text],
    )
    const count = counted[0]?.count ?? 0
    if (count > 0) found[`${table}.${column}`] = count
  }
  return found
}

describe('resealing', () => {
  test('leaves no secret under the old key, and the new key opens each secret', async () => {
    await plant()
    const planted = await occurrences('v1.old.')
    expect(Object.keys(planted).sort()).toEqual(SEALED_PLACES.map(({ table, column }) => `${table}.${column}`).sort())
    await resealAll(server.as('rotate-keys'), both)
    expect(await occurrences('v1.old.')).toEqual({})
    expect(await occurrences('v1.new.')).toEqual(planted)
    for (const { table, column, json } of SEALED_PLACES) {
      const { rows } = await database.query<{ value: string }>(`SELECT ${column}::text AS value FROM ${table}`)
      const texts = rows.flatMap(({ value }) => (json ? (value.match(/v1\.new\.[\w-]+/g) ?? []) : (value ?? [])))
      expect(texts.length).toBeGreaterThan(0)
      for (const text of texts) expect(after.openText(text, 'somewhere')).toBe('secret')
    }
    const { rows } = await database.query(
      `SELECT plan_head #>> '{shared_variables,x,$sealed}' AS mine FROM deployments`,
    )
    expect(rows).toEqual([{ mine: 'mine' }])
  })

  test('changes no row the second time', async () => {
    await plant()
    await resealAll(server.as('rotate-keys'), both)
    const counts: number[] = []
    await resealAll(server.as('rotate-keys'), both, ({ rows, resealed }) => counts.push(rows > 0 ? resealed : -1))
    expect(counts).toEqual(SEALED_PLACES.map(() => 0))
  })

  test('names a missing key, and continues from there once it has the key', async () => {
    await plant()
    const other = `other:${randomBytes(32).toString('base64')}`
    const odd = KeyRing.parse(other).seal('secret', 'somewhere')
    await database.query(`UPDATE deployment_targets SET variables = $1 WHERE target_index = 1100`, [
      { a: { $sealed: odd } },
    ])
    await expect(resealAll(server.as('rotate-keys'), both)).rejects.toThrow(SecretError)
    await expect(resealAll(server.as('rotate-keys'), both)).rejects.toThrow('other')
    expect(Object.keys(await occurrences('v1.old.'))).toEqual(['deployment_targets.variables'])
    await resealAll(server.as('rotate-keys'), KeyRing.parse(`${newKey},${oldKey},${other}`))
    expect([await occurrences('v1.old.'), await occurrences('v1.other.')]).toEqual([{}, {}])
  })

  test('waits for a concurrent change of a row, and keeps that change', async () => {
    await plant()
    const theirs = sealed('theirs')
    const client = await database.pool.connect()
    try {
      await client.query(`SET slipway.tenant = '*'`)
      await client.query('BEGIN')
      await client.query('UPDATE environments SET variables_sealed = $1', [theirs])
      const resealing = resealAll(server.as('rotate-keys'), both)
      await waitFor(
        async () => {
          const { rows } = await server
            .as('rotate-keys')
            .query(`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)
          return rows.length > 0
        },
        { what: 'resealing to wait for the row' },
      )
      await client.query('COMMIT')
      await resealing
    } finally {
      client.release(true)
    }
    const { rows } = await database.query<{ text: string }>('SELECT variables_sealed AS text FROM environments')
    expect(after.openText(rows[0]?.text ?? '', 'somewhere')).toBe('theirs')
  })
})

test('every column whose name contains sealed or secret is in SEALED_PLACES', async () => {
  const { rows } = await database.query<{ place: string }>(
    `SELECT table_name || '.' || column_name AS place FROM information_schema.columns
      WHERE table_schema = 'public' AND (column_name LIKE '%sealed%' OR column_name LIKE '%secret%')`,
  )
  const known = SEALED_PLACES.map(({ table, column }) => `${table}.${column}`)
  expect(rows.map(({ place }) => place).filter((place) => !known.includes(place))).toEqual([])
})
