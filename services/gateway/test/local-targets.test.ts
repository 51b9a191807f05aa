import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { PERMISSIONS, type Permission } from '@slipway/domain'
import { addUser, type Client, clientOf, refusal, refused, startGateway, type TestGateway } from './setup.ts'

const LOCAL = { type: 'local' }
const SSH = { type: 'ssh', host: 'web-1.example.com', username: 'deploy', password: 'hush-hush' }
const FORBIDDEN = refused(403, 'INSUFFICIENT_PERMISSIONS')

let gateway: TestGateway
let admin: Client
let operator: Client
let ofTenant: { admin: Client; operator: Client }
let tenant: string

const create = (client: Client, connection: object, more: object = {}) =>
  client.send('createTarget', '/targets', { name: `target ${randomUUID()}`, connection, ...more })
const change = (client: Client, id: string, body: object) => client.send('updateTarget', `/targets/${id}`, body)
const idOf = async (created: ReturnType<typeof create>): Promise<string> => {
  const { status, body } = await created
  expect(status).toBe(201)
  return body.id
}

/** Creates a user with exactly these permissions. */
async function withPermissions(permissions: readonly Permission[], tenant_id: string | null = null): Promise<Client> {
  const user = await addUser(gateway, { role: 'user', tenant_id })
  const name = `role ${randomUUID()}`
  const role = await admin.send('createRole', '/admin/roles', { name, permissions })
  expect(role.status).toBe(201)
  await gateway.database.query('UPDATE user_roles SET role_id = $2 WHERE user_id = $1', [user.id, role.body.id])
  return clientOf(gateway, user.token)
}

beforeAll(async () => {
  gateway = await startGateway()
  admin = clientOf(gateway, gateway.adminToken)
  tenant = (await admin.send('createTenant', '/tenants', { name: 'A' })).body.id
  const client = async (role: 'admin' | 'operator', tenant_id: string | null) =>
    clientOf(gateway, (await addUser(gateway, { role, tenant_id })).token)
  operator = await client('operator', null)
  ofTenant = { admin: await client('admin', tenant), operator: await client('operator', tenant) }
})
afterAll(() => gateway.close())

describe('creating a local target', () => {
  test('needs targets:local, which the role admin has and the role operator lacks', async () => {
    await idOf(create(admin, LOCAL))
    expect(refusal(await create(operator, LOCAL))).toEqual(FORBIDDEN)
    await idOf(create(operator, SSH))
  })

  test('is possible for any role with targets:local', async () => {
    await idOf(create(await withPermissions(['targets:create', 'targets:local']), LOCAL))
    const allOthers = PERMISSIONS.filter((permission) => permission !== 'targets:local')
    expect(refusal(await create(await withPermissions(allOthers), LOCAL))).toEqual(FORBIDDEN)
    expect(refusal(await create(await withPermissions(['targets:local']), LOCAL))).toEqual(FORBIDDEN)
  })

  test('is never possible for a user of a tenant', async () => {
    const holder = await withPermissions(['targets:create', 'targets:local'], tenant)
    for (const client of [holder, ofTenant.admin, ofTenant.operator]) {
      expect(refusal(await create(client, LOCAL))).toEqual(FORBIDDEN)
      expect(refusal(await create(client, LOCAL, { tenant_id: null }))).toEqual(FORBIDDEN)
    }
  })

  test('is refused before the rest of the body is validated', async () => {
    const response = await create(ofTenant.operator, LOCAL, { no_such_field: 1, environment_id: randomUUID() })
    expect(refusal(response)).toEqual(FORBIDDEN)
  })

  test('needs targets:local in the scopes of an API key', async () => {
    const keyOf = async (scopes: string[]) => {
      const { body } = await admin.send('createApiKey', '/auth/api-keys', { name: `key ${randomUUID()}`, scopes })
      return clientOf(gateway, body.full_key)
    }
    expect(refusal(await create(await keyOf(['targets:create']), LOCAL))).toEqual(FORBIDDEN)
    await idOf(create(await keyOf(['targets:create', 'targets:local']), LOCAL))
  })
})

describe('changing a target to local', () => {
  test('needs targets:local', async () => {
    const id = await idOf(create(operator, SSH))
    expect(refusal(await change(operator, id, { connection: LOCAL }))).toEqual(FORBIDDEN)
    const updates = await withPermissions(['targets:update', 'targets:local'])
    expect((await change(updates, id, { connection: LOCAL })).body.connection).toEqual(LOCAL)
  })

  test('is never possible for a user of a tenant', async () => {
    const id = await idOf(create(ofTenant.operator, SSH))
    for (const client of [ofTenant.admin, ofTenant.operator]) {
      expect(refusal(await change(client, id, { connection: LOCAL }))).toEqual(FORBIDDEN)
    }
    const read = await admin.send('getTarget', `/targets/${id}`)
    expect(read.body.connection.type).toBe('ssh')
  })

  test('is refused to a user who changed it from local before', async () => {
    const id = await idOf(create(admin, LOCAL, { tenant_id: tenant }))
    expect((await change(ofTenant.operator, id, { connection: SSH })).status).toBe(200)
    expect(refusal(await change(ofTenant.operator, id, { connection: LOCAL }))).toEqual(FORBIDDEN)
  })

  test('is refused if another change makes it non-local at the same moment', async () => {
    const id = await idOf(create(admin, LOCAL, { tenant_id: tenant }))
    const changes = Array.from({ length: 8 }, (_, n) =>
      change(ofTenant.operator, id, { connection: n % 2 === 0 ? SSH : LOCAL }),
    )
    const statuses = (await Promise.all(changes)).map(({ status }) => status)
    // Those that come before the first change to SSH leave the target local.
    expect(statuses.filter((status) => status !== 200 && status !== 403)).toEqual([])
    const read = await admin.send('getTarget', `/targets/${id}`)
    expect(read.body.connection.type).toBe('ssh')
    expect(refusal(await change(ofTenant.operator, id, { connection: LOCAL }))).toEqual(FORBIDDEN)
  })
})

describe('a local target of a tenant', () => {
  test('can be changed by the tenant if it stays local', async () => {
    const id = await idOf(create(admin, LOCAL, { tenant_id: tenant }))
    const changed = await change(ofTenant.operator, id, { description: 'ours', connection: LOCAL })
    expect(changed.body).toMatchObject({ description: 'ours', connection: LOCAL, tenant_id: tenant })
  })

  test('keeps its instance selector unless the caller may make local targets', async () => {
    const selector = { match_labels: { zone: 'a', tier: 'web' } }
    const id = await idOf(create(admin, LOCAL, { tenant_id: tenant, instance_selector: selector }))
    const others = PERMISSIONS.filter((permission) => permission !== 'targets:local')
    for (const client of [ofTenant.admin, ofTenant.operator, operator, await withPermissions(others)]) {
      for (const instance_selector of [null, { match_labels: { zone: 'b' } }]) {
        expect(refusal(await change(client, id, { instance_selector }))).toEqual(FORBIDDEN)
        expect(refusal(await change(client, id, { instance_selector, connection: LOCAL }))).toEqual(FORBIDDEN)
      }
      const same = { instance_selector: { match_labels: { tier: 'web', zone: 'a' } }, description: 'ours' }
      expect((await change(client, id, same)).status).toBe(200)
    }
    expect((await change(admin, id, { instance_selector: null })).body.instance_selector).toBeNull()
    // Of other targets, the tenant chooses the instances.
    const ssh = await idOf(create(ofTenant.operator, SSH))
    expect((await change(ofTenant.operator, ssh, { instance_selector: selector })).status).toBe(200)
  })

  test('can be created by an administrator who moves it there', async () => {
    const id = await idOf(create(admin, LOCAL))
    expect((await change(admin, id, { tenant_id: tenant })).body.tenant_id).toBe(tenant)
  })
})

describe('targets:local', () => {
  test('can be granted only by a user who has it', async () => {
    const others = PERMISSIONS.filter((permission) => permission !== 'targets:local')
    const granter = await withPermissions(others)
    const role = { name: `role ${randomUUID()}`, permissions: ['targets:local'] }
    expect(refusal(await granter.send('createRole', '/admin/roles', role))).toEqual(FORBIDDEN)
    const made = await admin.send('createRole', '/admin/roles', role)
    expect(made.status).toBe(201)
    const user = { email: `${randomUUID()}@example.com`, username: randomUUID(), password: 'a long password' }
    const given = await granter.send('createUser', '/admin/users', { ...user, roles: [role.name] })
    expect(refusal(given)).toEqual(FORBIDDEN)
  })
})
