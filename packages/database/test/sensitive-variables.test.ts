import { randomUUID } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { connectTo, createTestDatabase, repositoryRoot, type TestDatabase } from '@slipway/testing'
import type pg from 'pg'

// Runs the migration that adds sensitive_variables on a database with records.

const OWNERS = ['tenants', 'environments', 'targets']
let made: TestDatabase
let client: pg.Client
const [tenantA, tenantB, source] = [randomUUID(), randomUUID(), randomUUID()]

beforeAll(async () => {
  made = await createTestDatabase()
  client = await connectTo(made.url)
})
afterAll(async () => {
  await client.end()
  await made.drop()
})

async function publish(names: string[], version: string): Promise<void> {
  const variables = [...names.map((name) => ({ name, sensitive: true })), { name: 'region' }]
  await client.query('INSERT INTO source_versions (source_id, version, definition) VALUES ($1, $2, $3)', [
    source,
    version,
    { variables },
  ])
}

/** Inserts a record like the earlier release: without the new column, as one tenant. */
async function addTarget(tenant: string): Promise<string> {
  const id = randomUUID()
  const connection = await connectTo(made.url, tenant)
  await connection.query(
    `INSERT INTO targets (id, tenant_id, name, connection, variables_sealed) VALUES ($1, $2, $1::uuid::text, '{}', 'x')`,
    [id, tenant],
  )
  await connection.end()
  return id
}

const marksOf = async (table: string, id: string) =>
  (await client.query(`SELECT sensitive_variables FROM ${table} WHERE id = $1`, [id])).rows[0].sensitive_variables

test('existing records and new records of the earlier release start with every declared sensitive name', async () => {
  const [folder = ''] = fs
    .readdirSync(path.join(repositoryRoot, 'prisma/migrations'))
    .filter((name) => name.endsWith('_sensitive_variables'))
  for (const table of OWNERS) await client.query(`ALTER TABLE ${table} DROP COLUMN sensitive_variables`)
  await client.query('DROP FUNCTION note_sensitive_names CASCADE')
  await client.query('DROP FUNCTION declared_sensitive_names; DROP TABLE sensitive_names')

  for (const id of [tenantA, tenantB])
    await client.query('INSERT INTO tenants (id, name, slug) VALUES ($1, $1::uuid::text, $1::uuid::text)', [id])
  await client.query(`INSERT INTO sources (id, tenant_id, kind, name) VALUES ($1, $2, 'action', 'x')`, [
    source,
    tenantA,
  ])
  await publish(['token', 'key'], '1.0.0')
  await publish(['token'], '1.1.0')
  const before = await addTarget(tenantB)

  const script = path.join(repositoryRoot, 'prisma/migrations', folder, 'migration.sql')
  await client.query(fs.readFileSync(script, 'utf8'))
  expect(await marksOf('targets', before)).toEqual(['key', 'token'])
  expect(await marksOf('tenants', tenantB)).toEqual(['key', 'token'])

  await publish(['wallet'], '2.0.0')
  // Tenant B does not see the source, but the names of the source still apply.
  expect(await marksOf('targets', await addTarget(tenantB))).toEqual(['key', 'token', 'wallet'])
  expect(await marksOf('targets', before)).toEqual(['key', 'token'])
  await client.query('DELETE FROM sources WHERE id = $1', [source])
  expect((await client.query('SELECT FROM sensitive_names')).rowCount).toBe(0)
})
