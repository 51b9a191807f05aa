import { randomUUID } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { connectTo, createTestDatabase, repositoryRoot, type TestDatabase } from '@slipway/testing'
import type pg from 'pg'

// Runs the migration that adds the source of requests on a database with pending requests.

const MIGRATION = path.join(repositoryRoot, 'prisma/migrations/20261123140000_source_of_pending_requests/migration.sql')
let made: TestDatabase
let client: pg.Client

beforeAll(async () => {
  made = await createTestDatabase()
  client = await connectTo(made.url)
})
afterAll(async () => {
  await client.end()
  await made.drop()
})

async function queue(command: object, status = 'pending'): Promise<string> {
  const id = randomUUID()
  await client.query('INSERT INTO pending_requests (id, priority, command, status) VALUES ($1, 0, $2, $3)', [
    id,
    command,
    status,
  ])
  return id
}

async function sourceOf(id: string): Promise<unknown[]> {
  const { rows } = await client.query({
    text: `SELECT source_type, source_id, source_name, source_version, target_count FROM pending_requests WHERE id = $1`,
    values: [id],
    rowMode: 'array',
  })
  return rows[0] ?? []
}

test('pending requests get their source from their command, and the earlier release can still queue', async () => {
  await client.query(`ALTER TABLE pending_requests DROP COLUMN source_type, DROP COLUMN source_id, DROP COLUMN source_name,
    DROP COLUMN source_version, DROP COLUMN target_count`)
  const source = { type: 'solution', id: randomUUID(), name: 'web', version: '2.1.0' }
  const plan = { source, targets: [{ id: randomUUID() }, { id: randomUUID() }] }
  const waiting = await queue({ plan })
  const dispatching = await queue({ plan: { ...plan, targets: [] } }, 'processing')
  const broken = await queue({ plan: { targets: 'none' } })
  const ended = await queue({ plan }, 'cancelled')

  await client.query(fs.readFileSync(MIGRATION, 'utf8'))
  const later = await queue({ plan })

  expect(await sourceOf(waiting)).toEqual(['solution', source.id, 'web', '2.1.0', 2])
  expect(await sourceOf(dispatching)).toEqual(['solution', source.id, 'web', '2.1.0', 0])
  for (const id of [broken, ended, later]) expect(await sourceOf(id)).toEqual(Array(5).fill(null))
})
