import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { OperationId } from '@slipway/contracts'
import request from 'supertest'
import {
  addUser,
  type Client,
  clientOf,
  refusal,
  refused,
  startGateway,
  type TestGateway,
  taken,
  UNKNOWN_ID,
} from './setup.ts'

let gateway: TestGateway
let admin: Client
let adminId: string
let tenants: { a: string; b: string }
beforeAll(async () => {
  gateway = await startGateway()
  admin = clientOf(gateway, gateway.adminToken)
  adminId = (await admin.send('getCurrentUser', '/auth/me')).body.id
  const tenant = async (name: string) => (await admin.send('createTenant', '/tenants', { name })).body.id as string
  tenants = { a: await tenant('A'), b: await tenant('B') }
})
afterAll(() => gateway.close())

let counter = 0
const unique = (name: string) => `${name}-${++counter}`
const PASSWORD = 'a long enough password'
const newUser = (more: object = {}) => {
  const username = unique('user')
  return { email: `${username}@example.com`, username, password: PASSWORD, roles: ['user'], ...more }
}
const createUser = async (more: object = {}) => {
  const response = await admin.send('createUser', '/admin/users', newUser(more))
  expect(response.status).toBe(201)
  return response.body as { id: string; email: string; username: string }
}
const createRole = async (permissions: string[]) => {
  const response = await admin.send('createRole', '/admin/roles', { name: unique('role'), permissions })
  expect(response.status).toBe(201)
  return response.body as { id: string; name: string }
}
const logIn = (email: string, password = PASSWORD) =>
  request(gateway.app).post('/api/v1/auth/login').send({ email, password })
const clientWith = async (roles: string[], more: object = {}) => {
  const user = await createUser({ roles, ...more })
  return { user, client: clientOf(gateway, (await logIn(user.email)).body.access_token as string) }
}
async function auditOf(resourceId: string) {
  const { rows } = await gateway.database.query<{ action: string; details: Record<string, unknown> }>(
    'SELECT action, details FROM audit_records WHERE resource_id = $1 ORDER BY number',
    [resourceId],
  )
  return rows
}

describe('users', () => {
  test('a user is created, read, listed, changed and deleted', async () => {
    const body = newUser({ display_name: 'Ada Lovelace', roles: ['operator', 'user'] })
    const created = await admin.send('createUser', '/admin/users', body)
    expect(created.status).toBe(201)
    expect(created.body).toMatchObject({
      email: body.email,
      username: body.username,
      display_name: 'Ada Lovelace',
      status: 'active',
      roles: ['operator', 'user'],
      tenant_id: null,
    })
    expect(created.body.permissions).toContain('deployments:create')
    expect(JSON.stringify(created.body)).not.toMatch(/password|hash/)
    const path = `/admin/users/${created.body.id}`
    expect((await admin.send('getUser', path)).body).toEqual(created.body)

    const change = { display_name: null, username: unique('renamed'), roles: ['user'], email: `NEW-${body.email}` }
    const changed = await admin.send('updateUser', path, change)
    expect(changed.body).toMatchObject({ ...change, email: `new-${body.email}` })
    expect((await admin.send('updateUser', path, {})).body).toEqual(changed.body)
    expect((await logIn(`New-${body.email}`)).status).toBe(200)

    expect((await admin.send('deleteUser', path)).status).toBe(204)
    expect(refusal(await admin.send('getUser', path))).toEqual(refused(404, 'NOT_FOUND'))
    expect(refusal(await admin.send('deleteUser', path))).toEqual(refused(404, 'NOT_FOUND'))
    const audit = await auditOf(created.body.id)
    expect(audit.map(({ action }) => action)).toEqual([
      'user.create',
      'user.update',
      'user.update',
      'auth.login',
      'user.delete',
      'user.delete',
    ])
    expect(audit[1]?.details).toMatchObject({
      changes: {
        display_name: { from: 'Ada Lovelace', to: null },
        roles: { from: ['operator', 'user'], to: ['user'] },
      },
      password_changed: false,
    })
    expect(JSON.stringify(audit)).not.toContain(PASSWORD)
  })

  test('the list searches user names, display names and email addresses without regard to case', async () => {
    const mark = unique('needle')
    const found = [
      await createUser({ username: `x-${mark}-x` }),
      await createUser({ display_name: `X ${mark} X` }),
      await createUser({ email: `x.${mark}@example.com` }),
    ]
    await createUser({ display_name: '100% sure' })
    const { body } = await admin.send('listUsers', `/admin/users?search=${mark.toUpperCase()}`)
    expect(body.data.map(({ id }: { id: string }) => id)).toEqual(found.map(({ id }) => id).reverse())
    expect(body.meta.total).toBe(3)
    expect((await admin.send('listUsers', '/admin/users?search=0%25%20s')).body.meta.total).toBe(1)
    expect((await admin.send('listUsers', `/admin/users?search=${mark}&limit=1&page=2`)).body.data).toEqual([
      (await admin.send('getUser', `/admin/users/${found[1]?.id}`)).body,
    ])
  })

  test('email addresses and user names are unique without regard to case', async () => {
    const { email, username } = await createUser()
    for (const more of [{ email: email.toUpperCase() }, { username }, { username: username.toUpperCase() }]) {
      const path = `/${Object.keys(more)[0]}`
      expect(refusal(await admin.send('createUser', '/admin/users', newUser(more)))).toEqual(taken(path))
    }
    const other = await createUser()
    expect(refusal(await admin.send('updateUser', `/admin/users/${other.id}`, { email: email.toUpperCase() }))).toEqual(
      taken('/email'),
    )
  })

  test.each<[string, object, object[]]>([
    ['a short password', { password: 'x'.repeat(11) }, [{ path: '/password' }]],
    ['a long password', { password: 'x'.repeat(129) }, [{ path: '/password' }]],
    ['an unknown status', { status: 'deleted' }, [{ path: '/status' }]],
    ['a malformed email address', { email: 'nobody' }, [{ path: '/email' }]],
    ['an unknown field', { permissions: [] }, [{ path: '/permissions' }]],
    ['unknown roles', { roles: ['user', 'nope', 'none'] }, [{ path: '/roles/1' }, { path: '/roles/2' }]],
    ['a role twice', { roles: ['user', 'user'] }, [{ path: '/roles' }]],
    ['a user name with blanks at its end', { username: 'x ' }, [{ path: '/username' }]],
  ])('%s is refused with the path of the field', async (_, more, errors) => {
    const answer = refusal(await admin.send('createUser', '/admin/users', newUser(more)))
    expect(answer).toMatchObject(refused(400, 'VALIDATION_ERROR', { errors }))
    const { id } = await createUser()
    expect(refusal(await admin.send('updateUser', `/admin/users/${id}`, more))).toMatchObject(answer)
  })

  test('a service account has a name and roles, and neither address nor password', async () => {
    const body = { kind: 'service', username: unique('pipeline'), display_name: 'Pipeline', roles: ['operator'] }
    const { status, body: account } = await admin.send('createUser', '/admin/users', body)
    expect([status, account]).toEqual([
      201,
      expect.objectContaining({ ...body, email: null, email_verified: false, identity: null, status: 'active' }),
    ])
    const path = `/admin/users/${account.id}`
    expect((await admin.send('getUser', path)).body).toEqual(account)
    const changed = await admin.send('updateUser', path, { username: unique('renamed'), roles: ['user'] })
    expect(changed.body).toMatchObject({ kind: 'service', roles: ['user'] })
    for (const change of [{ email: 'a@example.com' }, { password: PASSWORD }, { email_verified: true }]) {
      expect(refusal(await admin.send('updateUser', path, change))).toEqual(refused(409, 'CONFLICT'))
    }
    expect(refusal(await admin.send('updateUser', path, { kind: 'person' }))).toMatchObject({
      details: { errors: [{ path: '/kind' }] },
    })
    expect((await admin.send('listUsers', '/admin/users?limit=1')).body.data).toEqual([changed.body])
  })

  test.each([
    [{ kind: 'service', email: 'a@example.com', password: PASSWORD }, ['/email', '/password']],
    [{ kind: 'service', email_verified: false }, ['/email_verified']],
    [{ kind: 'robot', email: 'a@example.com', password: PASSWORD }, ['/kind']],
  ])('a user %j is refused with the path of each wrong field', async (more, paths) => {
    const answer = await admin.send('createUser', '/admin/users', { username: unique('x'), roles: [], ...more })
    expect(refusal(answer)).toMatchObject({
      ...refused(400, 'VALIDATION_ERROR'),
      details: { errors: paths.map((path) => ({ path })) },
    })
  })

  test('a person needs an address and a password', async () => {
    const answer = await admin.send('createUser', '/admin/users', { username: unique('x'), roles: [] })
    expect(refusal(answer)).toEqual(refused(400, 'MISSING_FIELD', { fields: ['email', 'password'] }))
  })

  test('the length of a password is counted in characters', async () => {
    const password = '🔑'.repeat(12)
    const { email } = await createUser({ password })
    expect((await logIn(email, password)).status).toBe(200)
  })

  test('the refusal names every missing field', async () => {
    const { password: _, roles: __, ...rest } = newUser()
    expect(refusal(await admin.send('createUser', '/admin/users', rest))).toEqual(
      refused(400, 'MISSING_FIELD', { fields: ['roles', 'password'] }),
    )
  })

  test('an unknown tenant is 404', async () => {
    const answer = refusal(await admin.send('createUser', '/admin/users', newUser({ tenant_id: UNKNOWN_ID })))
    expect(answer).toEqual(refused(404, 'NOT_FOUND', { missing: [{ path: '/tenant_id', id: UNKNOWN_ID }] }))
  })
})

describe('changes with immediate effect', () => {
  test.each(['suspended', 'inactive'])(
    'a user who is %s can do nothing, and needs a new login afterwards',
    async (status) => {
      const { user, client } = await clientWith(['operator'])
      const path = `/admin/users/${user.id}`
      expect((await client.send('getCurrentUser', '/auth/me')).status).toBe(200)
      await admin.send('updateUser', path, { status })
      expect(refusal(await client.send('getCurrentUser', '/auth/me'))).toEqual(refused(403, 'FORBIDDEN'))
      expect(refusal(await logIn(user.email))).toEqual(refused(401, 'INVALID_CREDENTIALS'))
      await admin.send('updateUser', path, { status: 'active' })
      expect(refusal(await client.send('getCurrentUser', '/auth/me'))).toEqual(refused(401, 'INVALID_TOKEN'))
      expect((await logIn(user.email)).status).toBe(200)
    },
  )

  test('an email address stays verified until it changes', async () => {
    const { user } = await clientWith(['operator'])
    const path = `/admin/users/${user.id}`
    const change = async (body: object) => (await admin.send('updateUser', path, body)).body.email_verified
    expect((await admin.send('getUser', path)).body.email_verified).toBe(false)
    expect(await change({ email_verified: true })).toBe(true)
    expect(await change({ display_name: 'Same address' })).toBe(true)
    expect(await change({ email: `${unique('other')}@example.com` })).toBe(false)
    expect(await change({ email: `${unique('known')}@example.com`, email_verified: true })).toBe(true)
  })

  test('a new password and a new tenant end the sessions of the user', async () => {
    for (const change of [{ password: 'another long password' }, { tenant_id: tenants.a }]) {
      const { user, client } = await clientWith(['operator'])
      await admin.send('updateUser', `/admin/users/${user.id}`, change)
      expect(refusal(await client.send('getCurrentUser', '/auth/me'))).toEqual(refused(401, 'INVALID_TOKEN'))
    }
    const { user } = await clientWith(['operator'])
    await admin.send('updateUser', `/admin/users/${user.id}`, { password: 'another long password' })
    expect((await logIn(user.email)).status).toBe(401)
    expect((await logIn(user.email, 'another long password')).status).toBe(200)
  })

  test('changed roles and permissions apply to existing sessions', async () => {
    const role = await createRole(['targets:read'])
    const { user, client } = await clientWith([role.name])
    expect((await client.send('listTargets', '/targets')).status).toBe(200)
    await admin.send('updateRole', `/admin/roles/${role.id}`, { permissions: ['tenants:read'] })
    expect(refusal(await client.send('listTargets', '/targets'))).toEqual(refused(403, 'INSUFFICIENT_PERMISSIONS'))
    expect((await client.send('listTenants', '/tenants')).status).toBe(200)
    await admin.send('updateUser', `/admin/users/${user.id}`, { roles: [] })
    expect(refusal(await client.send('listTenants', '/tenants'))).toEqual(refused(403, 'INSUFFICIENT_PERMISSIONS'))
  })

  test('the keys and sessions of a deleted user are invalid', async () => {
    const { user, client } = await clientWith(['operator'])
    const key = await client.send('createApiKey', '/auth/api-keys', { name: 'pipeline' })
    expect(key.status).toBe(201)
    await admin.send('deleteUser', `/admin/users/${user.id}`)
    expect(refusal(await client.send('getCurrentUser', '/auth/me'))).toEqual(refused(401, 'INVALID_TOKEN'))
    const withKey = clientOf(gateway, key.body.full_key)
    expect(refusal(await withKey.send('getCurrentUser', '/auth/me'))).toEqual(refused(401, 'INVALID_CREDENTIALS'))
  })
})

describe('permissions that a caller lacks', () => {
  let manager: Client
  let managerRole: { id: string; name: string }
  beforeAll(async () => {
    managerRole = await createRole([
      ...['users:create', 'users:read', 'users:update', 'users:delete'],
      ...['roles:create', 'roles:read', 'roles:update', 'targets:read'],
    ])
    manager = (await clientWith([managerRole.name])).client
  })
  const forbidden = refused(403, 'INSUFFICIENT_PERMISSIONS')

  test('cannot be given to a user as a role', async () => {
    expect(refusal(await manager.send('createUser', '/admin/users', newUser({ roles: ['admin'] })))).toEqual(forbidden)
    const { id } = await createUser({ roles: [] })
    expect(refusal(await manager.send('updateUser', `/admin/users/${id}`, { roles: ['operator'] }))).toEqual(forbidden)
    expect((await manager.send('updateUser', `/admin/users/${id}`, { roles: [managerRole.name] })).status).toBe(200)
    const own = (await manager.send('getCurrentUser', '/auth/me')).body.id
    const more = { roles: [managerRole.name, 'admin'] }
    expect(refusal(await manager.send('updateUser', `/admin/users/${own}`, more))).toEqual(forbidden)
  })

  test('cannot be added to a role', async () => {
    const role = { name: unique('role'), permissions: ['targets:read', 'audit:read'] }
    expect(refusal(await manager.send('createRole', '/admin/roles', role))).toEqual(forbidden)
    const more = { permissions: ['targets:read', 'audit:read'] }
    expect(refusal(await manager.send('updateRole', `/admin/roles/${managerRole.id}`, more))).toEqual(forbidden)
    const less = { ...role, permissions: ['targets:read'] }
    expect((await manager.send('createRole', '/admin/roles', less)).status).toBe(201)
  })

  test('a change of roles needs every permission of the old and new roles', async () => {
    const { id } = await createUser({ roles: ['operator', 'user'] })
    const change = (roles: string[]) => manager.send('updateUser', `/admin/users/${id}`, { roles })
    expect(refusal(await change(['operator']))).toEqual(forbidden)
    expect(refusal(await change(['operator', 'user', managerRole.name]))).toEqual(forbidden)
    expect((await change(['user', 'operator'])).status).toBe(200)
    expect((await change([managerRole.name])).body.roles).toEqual([managerRole.name])
    expect((await change([])).status).toBe(200)
  })

  test('a change of tenant needs every permission of the user', async () => {
    const { id } = await createUser({ roles: ['admin'], tenant_id: tenants.a })
    const path = `/admin/users/${id}`
    for (const tenant_id of [null, tenants.b]) {
      expect(refusal(await manager.send('updateUser', path, { tenant_id }))).toEqual(forbidden)
      const withRoles = { tenant_id, roles: ['admin', managerRole.name] }
      expect(refusal(await manager.send('updateUser', path, withRoles))).toEqual(forbidden)
    }
    expect((await admin.send('getUser', path)).body).toMatchObject({ tenant_id: tenants.a, roles: ['admin'] })
    expect((await admin.send('updateUser', path, { tenant_id: null })).body.tenant_id).toBeNull()
    const few = await createUser({ roles: [managerRole.name], tenant_id: tenants.a })
    const released = await manager.send('updateUser', `/admin/users/${few.id}`, { tenant_id: null })
    expect(released.body.tenant_id).toBeNull()
  })

  test('a change of tenant with an API key is limited by the scopes of the key', async () => {
    const { client } = await clientWith(['admin'])
    const key = await client.send('createApiKey', '/auth/api-keys', { name: 'people', scopes: ['users:update'] })
    const withKey = clientOf(gateway, key.body.full_key)
    const { id } = await createUser({ roles: ['admin'], tenant_id: tenants.a })
    expect(refusal(await withKey.send('updateUser', `/admin/users/${id}`, { tenant_id: null }))).toEqual(forbidden)
  })

  test('renaming and suspending a user need no permissions of that user', async () => {
    const { id } = await createUser({ roles: ['admin'], tenant_id: tenants.a })
    const change = { username: unique('renamed'), display_name: 'New', status: 'suspended' }
    const same = { ...change, tenant_id: tenants.a, roles: ['admin'] }
    expect((await manager.send('updateUser', `/admin/users/${id}`, same)).body).toMatchObject(same)
  })

  test('protect the password and email address of a user who has them', async () => {
    for (const change of [{ password: 'taken over, I think' }, { email: 'mine@example.com' }]) {
      expect(refusal(await manager.send('updateUser', `/admin/users/${adminId}`, change))).toEqual(forbidden)
    }
    const { id, email } = await createUser({ roles: [] })
    expect((await manager.send('updateUser', `/admin/users/${id}`, { password: 'taken over, I think' })).status).toBe(
      200,
    )
    expect((await logIn(email, 'taken over, I think')).status).toBe(200)
  })

  test('a user created with an API key gets at most the scopes of the key', async () => {
    const { client } = await clientWith(['admin'])
    const key = await client.send('createApiKey', '/auth/api-keys', {
      name: 'people',
      scopes: ['users:create', 'targets:read'],
    })
    const withKey = clientOf(gateway, key.body.full_key)
    expect(refusal(await withKey.send('createUser', '/admin/users', newUser({ roles: ['operator'] })))).toEqual(
      forbidden,
    )
    expect((await withKey.send('createUser', '/admin/users', newUser({ roles: [] }))).status).toBe(201)
  })
})

test('to rename a role, the caller needs its permissions: rules of login providers name roles', async () => {
  const { body: role } = await admin.send('createRole', '/admin/roles', {
    name: unique('powerful'),
    permissions: ['users:delete'],
  })
  const { client } = await clientWith([(await createRole(['roles:update', 'roles:read'])).name])
  const path = `/admin/roles/${role.id}`
  expect(refusal(await client.send('updateRole', path, { name: unique('viewer') }))).toEqual(
    refused(403, 'INSUFFICIENT_PERMISSIONS'),
  )
  expect((await client.send('updateRole', path, { description: 'Deletes users' })).status).toBe(200)
})

describe('protection of the caller and of the last administrator', () => {
  // Suspends every other administrator without a tenant, so that `adminId` is the last one.
  beforeEach(() =>
    gateway.database.query(`UPDATE users SET status = 'suspended' WHERE id <> $1 AND tenant_id IS NULL`, [adminId]),
  )
  const conflict = refused(409, 'CONFLICT')

  test('users cannot delete, suspend, move or demote themselves, or set their own password this way', async () => {
    const { user, client } = await clientWith(['admin'])
    const path = `/admin/users/${user.id}`
    expect(refusal(await client.send('deleteUser', path))).toEqual(conflict)
    for (const change of [{ status: 'suspended' }, { roles: [] }, { tenant_id: tenants.a }, { password: PASSWORD }]) {
      expect(refusal(await client.send('updateUser', path, change))).toEqual(conflict)
    }
    const harmless = { display_name: 'Me', status: 'active', roles: ['user', 'admin'], tenant_id: null }
    expect((await client.send('updateUser', path, harmless)).status).toBe(200)
  })

  test('the last administrator without a tenant cannot be removed by any caller', async () => {
    const all = await admin.send('createRole', '/admin/roles', {
      name: unique('everything'),
      permissions: (await admin.send('getCurrentUser', '/auth/me')).body.permissions,
    })
    const { client } = await clientWith([all.body.name])
    await createUser({ roles: ['admin'], tenant_id: tenants.a })
    const path = `/admin/users/${adminId}`
    expect(refusal(await client.send('deleteUser', path))).toEqual(conflict)
    for (const change of [{ status: 'suspended' }, { roles: ['operator'] }]) {
      expect(refusal(await client.send('updateUser', path, change))).toEqual(conflict)
    }
    // Only an administrator gives the role admin, in another tenant too.
    const moved = await client.send('updateUser', path, { tenant_id: tenants.a })
    expect(refusal(moved)).toEqual(refused(403, 'INSUFFICIENT_PERMISSIONS'))
    expect((await client.send('updateUser', path, { display_name: 'The only one' })).status).toBe(200)
  })

  test.each(['delete', 'suspend', 'demote'])('two administrators who %s each other leave one', async (how) => {
    for (let round = 0; round < 5; round += 1) {
      const one = await clientWith(['admin'])
      const other = await clientWith(['admin'])
      await gateway.database.query(`UPDATE users SET status = 'suspended' WHERE id = $1`, [adminId])
      const remove = (client: Client, { id }: { id: string }) =>
        how === 'delete'
          ? client.send('deleteUser', `/admin/users/${id}`)
          : client.send('updateUser', `/admin/users/${id}`, how === 'demote' ? { roles: [] } : { status: 'suspended' })
      const answers = await Promise.all([remove(one.client, other.user), remove(other.client, one.user)])
      await gateway.database.query(`UPDATE users SET status = 'active' WHERE id = $1`, [adminId])
      const { rows } = await gateway.database.query(
        `SELECT FROM users u JOIN user_roles ur ON ur.user_id = u.id JOIN roles r ON r.id = ur.role_id
         WHERE r.name = 'admin' AND u.status = 'active' AND u.id = ANY($1::uuid[])`,
        [[one.user.id, other.user.id]],
      )
      expect(rows).toHaveLength(1)
      // The refused call came after its caller lost the right, or would have removed the last administrator.
      const statuses = answers.map(({ status }) => status).sort()
      expect([200, 204]).toContain(statuses[0])
      expect([401, 403, 409]).toContain(statuses[1])
      await gateway.database.query(`UPDATE users SET status = 'suspended' WHERE id = ANY($1::uuid[])`, [
        [one.user.id, other.user.id],
      ])
    }
  })
})

describe('administrators of a tenant', () => {
  let ofA: Client
  let own: { id: string }
  let foreign: { id: string }
  beforeAll(async () => {
    ofA = clientOf(gateway, (await addUser(gateway, { role: 'admin', tenant_id: tenants.a })).token)
    own = await createUser({ tenant_id: tenants.a })
    foreign = await createUser({ tenant_id: tenants.b })
  })

  test('see only users of their tenant', async () => {
    const { body } = await ofA.send('listUsers', '/admin/users?limit=100')
    expect(new Set(body.data.map((user: { tenant_id: string }) => user.tenant_id))).toEqual(new Set([tenants.a]))
    expect(body.meta.total).toBe(body.data.length)
    expect((await ofA.send('getUser', `/admin/users/${own.id}`)).status).toBe(200)
    for (const id of [foreign.id, adminId, UNKNOWN_ID, 'nobody']) {
      const path = `/admin/users/${id}`
      expect(refusal(await ofA.send('getUser', path))).toEqual(refused(404, 'NOT_FOUND'))
      expect(refusal(await ofA.send('updateUser', path, { password: PASSWORD }))).toEqual(refused(404, 'NOT_FOUND'))
      expect(refusal(await ofA.send('deleteUser', path))).toEqual(refused(404, 'NOT_FOUND'))
    }
  })

  test('create and keep users in their tenant', async () => {
    for (const more of [{}, { tenant_id: null }, { tenant_id: tenants.a }]) {
      expect((await ofA.send('createUser', '/admin/users', newUser(more))).body.tenant_id).toBe(tenants.a)
    }
    const away = newUser({ tenant_id: tenants.b })
    expect(refusal(await ofA.send('createUser', '/admin/users', away)).status).toBe(404)
    const path = `/admin/users/${own.id}`
    expect((await ofA.send('updateUser', path, { tenant_id: null })).body.tenant_id).toBe(tenants.a)
    expect(refusal(await ofA.send('updateUser', path, { tenant_id: tenants.b })).status).toBe(404)
    expect((await ofA.send('updateUser', path, { status: 'suspended' })).body.status).toBe('suspended')
    expect((await ofA.send('deleteUser', path)).status).toBe(204)
  })

  test('can read roles but not change them', async () => {
    const role = await createRole(['targets:read'])
    const path = `/admin/roles/${role.id}`
    expect((await ofA.send('listRoles', '/admin/roles')).status).toBe(200)
    expect((await ofA.send('getRole', path)).status).toBe(200)
    const writes: [OperationId, string, object?][] = [
      ['createRole', '/admin/roles', { name: unique('role'), permissions: [] }],
      ['updateRole', path, { description: 'mine' }],
      ['deleteRole', path],
    ]
    for (const [id, at, body] of writes) {
      expect(refusal(await ofA.send(id, at, body))).toEqual(refused(403, 'FORBIDDEN'))
    }
  })
})

describe('roles', () => {
  test('a role is created, read, listed, changed and deleted', async () => {
    const body = {
      name: unique('Releasers'),
      description: 'Release',
      permissions: ['targets:read', 'deployments:create'],
    }
    const created = await admin.send('createRole', '/admin/roles', body)
    expect(created.body).toMatchObject({ ...body, permissions: body.permissions.toSorted(), built_in: false })
    const path = `/admin/roles/${created.body.id}`
    expect((await admin.send('getRole', path)).body).toEqual(created.body)
    const list = await admin.send('listRoles', `/admin/roles?search=${body.name.toUpperCase()}`)
    expect(list.body.data).toEqual([created.body])
    const change = { name: unique('Renamed'), description: null, permissions: [] }
    expect((await admin.send('updateRole', path, change)).body).toMatchObject(change)
    expect((await admin.send('deleteRole', path)).status).toBe(204)
    expect(refusal(await admin.send('getRole', path))).toEqual(refused(404, 'NOT_FOUND'))
    const audit = await auditOf(created.body.id)
    expect(audit.map(({ action }) => action)).toEqual(['role.create', 'role.update', 'role.delete'])
    expect(audit[1]?.details).toMatchObject({ changes: { description: { from: 'Release', to: null } } })
  })

  test('built-in roles can be neither changed nor deleted', async () => {
    const { body } = await admin.send('listRoles', '/admin/roles?limit=100')
    const builtIn = body.data.filter((role: { built_in: boolean }) => role.built_in)
    expect(builtIn.map(({ name }: { name: string }) => name).sort()).toEqual(['admin', 'operator', 'user'])
    for (const { id } of builtIn) {
      for (const change of [{ description: 'x' }, { permissions: [] }, {}]) {
        expect(refusal(await admin.send('updateRole', `/admin/roles/${id}`, change))).toEqual(refused(409, 'CONFLICT'))
      }
      expect(refusal(await admin.send('deleteRole', `/admin/roles/${id}`))).toEqual(refused(409, 'CONFLICT'))
    }
  })

  test('a role in use can be changed but not deleted', async () => {
    const role = await createRole(['targets:read'])
    const { id } = await createUser({ roles: [role.name] })
    const path = `/admin/roles/${role.id}`
    expect(refusal(await admin.send('deleteRole', path))).toEqual(refused(409, 'CONFLICT'))
    expect((await admin.send('updateRole', path, { permissions: [] })).status).toBe(200)
    await admin.send('updateUser', `/admin/users/${id}`, { roles: [] })
    expect((await admin.send('deleteRole', path)).status).toBe(204)
  })

  test('a role that is granted and deleted at once is either granted or deleted', async () => {
    for (let round = 0; round < 5; round += 1) {
      const role = await createRole([])
      const [granted, deleted] = await Promise.all([
        admin.send('createUser', '/admin/users', newUser({ roles: [role.name] })),
        admin.send('deleteRole', `/admin/roles/${role.id}`),
      ])
      expect([
        [201, 409],
        [400, 204],
      ]).toContainEqual([granted.status, deleted.status])
    }
  })

  test('names of roles are unique, and unknown permissions are refused', async () => {
    const { id } = await createRole([])
    const { name } = await createRole([])
    expect(refusal(await admin.send('createRole', '/admin/roles', { name, permissions: [] })).status).toBe(409)
    expect(refusal(await admin.send('updateRole', `/admin/roles/${id}`, { name }))).toEqual(taken('/name'))
    const unknown = { name: unique('role'), permissions: ['targets:read', 'targets:paint'] }
    expect(refusal(await admin.send('createRole', '/admin/roles', unknown))).toMatchObject(
      refused(400, 'VALIDATION_ERROR', { errors: [{ path: '/permissions/1' }] }),
    )
  })
})
