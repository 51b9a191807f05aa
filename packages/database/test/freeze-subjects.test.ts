import { randomUUID } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { connectTo, createTestDatabase, repositoryRoot, type TestDatabase } from '@slipway/testing'
import type pg from 'pg'

// Runs the migration that adds freeze_subject on a database with pending requests.

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

test('the migration fills freeze_subject of pending requests, and a trigger fills it after that', async () => {
  await client.query('DROP FUNCTION set_freeze_subject CASCADE; DROP FUNCTION freeze_subject_of')
  await client.query('ALTER TABLE pending_requests DROP COLUMN freeze_subject, DROP COLUMN freeze_key')

  const [environment, solution, target] = [randomUUID(), randomUUID(), randomUUID()]
  await client.query('INSERT INTO environments (id, name) VALUES ($1, $1::uuid::text)', [environment])
  await client.query(`INSERT INTO targets (id, name, connection, environment_id) VALUES ($1, '', '{}', $2)`, [
    target,
    environment,
  ])
  const caller = { roles: ['admin'], tenant_id: null, username: 'ada' }
  const plan = { source: { type: 'solution', id: solution }, targets: [{ id: target }, { id: randomUUID() }] }
  const queue = async (command: object, status = 'pending') => {
    const id = randomUUID()
    await client.query('INSERT INTO pending_requests (id, priority, command, status) VALUES ($1, 0, $2, $3)', [
      id,
      command,
      status,
    ])
    return id
  }
  const waiting = await queue({ caller, plan, freeze_override: { reason: 'x' } })
  const broken = await queue({ plan: { targets: 'none' } })
  const ended = await queue({ caller, plan }, 'cancelled')

  const folder = path.join(repositoryRoot, 'prisma/migrations')
  const name = fs.readdirSync(folder).find((one) => one.endsWith('_freeze_subjects')) ?? ''
  await client.query(fs.readFileSync(path.join(folder, name, 'migration.sql'), 'utf8'))
  const later = await queue({ caller, plan, freeze_override: null })

  const subjectOf = async (id: string) =>
    (await client.query('SELECT freeze_subject, freeze_key FROM pending_requests WHERE id = $1', [id])).rows[0]
  const subject = {
    tenant_id: null,
    environment_id: null,
    solution_id: solution,
    caller: { roles: ['admin'], tenant_id: null },
    targets: [{ tenant_id: null, environment_id: environment }],
  }
  expect(await subjectOf(waiting)).toEqual({
    freeze_subject: { ...subject, override: true },
    freeze_key: expect.any(String),
  })
  expect((await subjectOf(later)).freeze_subject).toEqual({ ...subject, override: false })
  expect((await subjectOf(broken)).freeze_subject).toMatchObject({ targets: [], override: false })
  expect((await subjectOf(ended)).freeze_subject).toBeNull()
})
