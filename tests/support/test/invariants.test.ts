import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { linkAudit, recordAudit } from '@slipway/database/audit'
import { uuidv7 } from '@slipway/runtime'
import { type OpenTestDatabase, openTestDatabase, violatedInvariants } from '@slipway/testing'

let testDatabase: OpenTestDatabase

beforeAll(async () => {
  testDatabase = await openTestDatabase()
})
afterAll(() => testDatabase.drop())
beforeEach(() => tamper('TRUNCATE audit_records, audit_links, tenants RESTART IDENTITY CASCADE'))

const tamper = (sql: string) =>
  testDatabase.database.transaction(async (tx) => {
    await tx.query('ALTER TABLE audit_records DISABLE TRIGGER USER')
    await tx.query('ALTER TABLE audit_links DISABLE TRIGGER USER')
    await tx.query(sql)
    await tx.query('ALTER TABLE audit_records ENABLE TRIGGER USER')
    await tx.query('ALTER TABLE audit_links ENABLE TRIGGER USER')
  })

const violations = () => violatedInvariants(testDatabase.url, 0)

async function createTenant(): Promise<string> {
  const id = uuidv7()
  await testDatabase.database.query('INSERT INTO tenants (id, name, slug) VALUES ($1, $2, $2)', [id, id])
  return id
}

const record = (action: string, resource_id: string, details: Record<string, unknown> = {}) =>
  recordAudit(testDatabase.database, [
    {
      actor_id: null,
      actor_name: null,
      actor_ip: null,
      action,
      resource_type: action.split('.')[0] ?? '',
      resource_id,
      tenant_id: null,
      request_id: null,
      details,
    },
  ])

test('a violation is reported unless each change has exactly one audit record that is no refusal', async () => {
  const id = await createTenant()
  const missing = expect.stringContaining('each of the tenants that a call made has one audit record')
  expect(await violations()).toEqual([missing])
  await record('tenant.create', id, { outcome: 'refused' })
  expect(await violations()).toEqual([missing])
  await record('tenant.create', id)
  expect(await violations()).toEqual([])
  await record('tenant.create', id)
  expect(await violations()).toEqual([missing])
})

test('a violation is reported if an audit record says that a missing deployment was started', async () => {
  await record('deployment.create', uuidv7(), { outcome: 'failed' })
  expect(await violations()).toEqual([])
  await record('deployment.create', uuidv7(), { outcome: 'started' })
  expect(await violations()).toEqual([expect.stringContaining('that is not there')])
})

test('a violation is reported if the chain of audit records was tampered with', async () => {
  await record('auth.login', 'somebody')
  await record('auth.login', 'somebody else')
  await linkAudit(testDatabase.database, { late: true })
  expect(await violations()).toEqual([])
  await tamper(`UPDATE audit_records SET actor_name = 'nobody' WHERE number = 1`)
  expect(await violations()).toEqual([expect.stringContaining('the chain of audit records verifies')])
})
