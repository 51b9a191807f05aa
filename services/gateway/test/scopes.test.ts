import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { Broker } from '@slipway/broker'
import { conflict, PERMISSIONS, type Permission, toErrorBody } from '@slipway/domain'
import { hashToken, uuidv7 } from '@slipway/runtime'
import { addPending } from '@slipway/testing'
import { makeApiKey } from '../src/identity/api-key.ts'
import { addDeployment, execute } from './deployment-rows.ts'
import { startOtherServices } from './other-services.ts'
import {
  addTenant,
  addUser,
  type Client,
  clientOf,
  refusal,
  refused,
  startGateway,
  type TestGateway,
  tokenFor,
} from './setup.ts'

let gateway: TestGateway
let admin: Client
let services: Broker

/** Environments and solutions by name. Nothing has the environment "none". */
const ids: Record<string, string> = {}
const id = (name: string): string => ids[name] ?? ''
const idsOf = (names: readonly string[] | null) => names?.map(id) ?? null

interface Limits {
  environments: readonly string[] | null
  solutions: readonly string[] | null
}
interface Bound extends Limits {
  permissions: readonly string[]
}
interface Someone {
  bindings: readonly Bound[]
  key: (Limits & { scopes: readonly string[] }) | null
}

const EVERYWHERE: Limits = { environments: null, solutions: null }
const STAGING: Limits = { environments: ['staging'], solutions: null }
const SHOP: Limits = { environments: null, solutions: ['shop'] }
const all = (limits: Limits): Bound => ({ permissions: PERMISSIONS, ...limits })

const SUBJECTS: Record<string, Someone> = {
  nobody: { bindings: [], key: null },
  everything: { bindings: [all(EVERYWHERE)], key: null },
  'in staging': { bindings: [all(STAGING)], key: null },
  'in staging and production, apart': {
    bindings: [all(STAGING), all({ ...STAGING, environments: ['production'] })],
    key: null,
  },
  'in both, together': { bindings: [all({ ...STAGING, environments: ['staging', 'production'] })], key: null },
  'for the shop': { bindings: [all(SHOP)], key: null },
  'for the shop in staging': { bindings: [all({ ...STAGING, solutions: ['shop'] })], key: null },
  'cancels only, in staging': { bindings: [{ permissions: ['deployments:cancel'], ...STAGING }], key: null },
  'key for staging': { bindings: [all(EVERYWHERE)], key: { scopes: [], ...STAGING } },
  'key for the shop, of one in staging': { bindings: [all(STAGING)], key: { scopes: [], ...SHOP } },
  'key that cancels': { bindings: [all(EVERYWHERE)], key: { scopes: ['deployments:cancel'], ...EVERYWHERE } },
}

/** What a call touches, by names. */
interface Touched {
  environments: readonly string[]
  solution: string | null
}

/** The words of the rules once more. `null`: the permission knows no scope. */
function naivelyMay(someone: Someone, permission: string, touched: readonly Touched[], kind: Kind): boolean {
  const covers = (limits: Limits, one: Touched): boolean => {
    if (limits.environments === null && limits.solutions === null) return true
    const [only] = one.environments
    const isIn = (name: string) => limits.environments === null || limits.environments.includes(name)
    if (kind === 'target') return limits.solutions === null && only !== undefined && isIn(only)
    if (kind === 'freeze') {
      if (limits.environments !== null && (only === undefined || !isIn(only))) return false
      return limits.solutions === null || (one.solution !== null && limits.solutions.includes(one.solution))
    }
    if (only === undefined || !one.environments.every(isIn)) return false
    return limits.solutions === null || (one.solution !== null && limits.solutions.includes(one.solution))
  }
  return touched.every((one) => {
    const isGiven = someone.bindings.some((bound) => bound.permissions.includes(permission) && covers(bound, one))
    const { key } = someone
    const passes = key === null || ((key.scopes.length === 0 || key.scopes.includes(permission)) && covers(key, one))
    return isGiven && passes
  })
}

type Kind = 'deployment' | 'freeze' | 'target'

interface Case {
  what: string
  kind: Kind
  permission: Permission
  /** What must be covered, each by one binding. */
  touched: Touched[]
  send(client: Client): Promise<{ status: number; body: { error?: { code: string } } }>
}

const clients = new Map<string, Client>()

async function clientAs({ bindings, key }: Someone): Promise<Client> {
  const { database, dependencies } = gateway
  const { id: user_id } = await addUser(gateway, { role: 'user' })
  await database.query('DELETE FROM user_roles WHERE user_id = $1', [user_id])
  for (const { permissions, environments, solutions } of bindings) {
    const role_id = uuidv7()
    await database.query('INSERT INTO roles (id, name, permissions) VALUES ($1, $1::uuid::text, $2)', [
      role_id,
      permissions,
    ])
    if (environments === null && solutions === null) {
      await database.query('INSERT INTO user_roles (user_id, role_id) VALUES ($1, $2)', [user_id, role_id])
    } else {
      await database.query(
        'INSERT INTO role_bindings (id, user_id, role_id, environment_ids, solution_ids) VALUES ($1, $2, $3, $4, $5)',
        [uuidv7(), user_id, role_id, idsOf(environments), idsOf(solutions)],
      )
    }
  }
  if (key === null) return clientOf(gateway, await tokenFor({ ...dependencies, database }, user_id))
  const full = makeApiKey()
  await database.query(
    `INSERT INTO api_keys (id, user_id, name, key_prefix, key_hash, scopes, environment_ids, solution_ids)
     VALUES ($1, $2, 'key', 'svc_', $3, $4, $5, $6)`,
    [uuidv7(), user_id, hashToken(full), key.scopes, idsOf(key.environments), idsOf(key.solutions)],
  )
  return clientOf(gateway, full)
}

const NONE = 'none'
const environmentOf = (name: string) => (name === NONE ? null : id(name))
const placeOf = (name: string): Touched => ({ environments: name === NONE ? [] : [name], solution: null })

async function addTarget(environment: string): Promise<string> {
  const target = uuidv7()
  await gateway.database.query(
    `INSERT INTO targets (id, name, connection, environment_id) VALUES ($1, $1::uuid::text, '{"type":"agent"}', $2)`,
    [target, environmentOf(environment)],
  )
  return target
}

function targetCases(): Case[] {
  const connection = { type: 'agent' }
  const places = [NONE, 'staging', 'production']
  return places.flatMap((place): Case[] => [
    {
      what: `create a target in ${place}`,
      kind: 'target',
      permission: 'targets:create',
      touched: [placeOf(place)],
      send: (client) =>
        client.send('createTarget', '/targets', { name: uuidv7(), connection, environment_id: environmentOf(place) }),
    },
    {
      what: `delete a target in ${place}`,
      kind: 'target',
      permission: 'targets:delete',
      touched: [placeOf(place)],
      send: async (client) => client.send('deleteTarget', `/targets/${await addTarget(place)}`),
    },
    {
      what: `ask for an agent token in ${place}`,
      kind: 'target',
      permission: 'targets:update',
      touched: [placeOf(place)],
      send: async (client) => client.send('createAgentToken', `/targets/${await addTarget(place)}/agent-token`),
    },
    ...['staging', 'production'].map(
      (other): Case => ({
        what: `move a target from ${place} to ${other}`,
        kind: 'target',
        permission: 'targets:update',
        touched: [placeOf(place), placeOf(other)],
        send: async (client) =>
          client.send('updateTarget', `/targets/${await addTarget(place)}`, { environment_id: id(other) }),
      }),
    ),
  ])
}

function freezeCases(): Case[] {
  const times = { start_time: '2030-01-01T00:00:00Z', end_time: '2030-01-02T00:00:00Z' }
  const places: Touched[] = [
    { environments: [], solution: null },
    { environments: ['staging'], solution: null },
    { environments: [], solution: 'shop' },
    { environments: ['staging'], solution: 'shop' },
    { environments: ['production'], solution: 'blog' },
  ]
  const fields = ({ environments: [environment = NONE], solution }: Touched) => ({
    environment_id: environmentOf(environment),
    solution_id: solution === null ? null : id(solution),
  })
  const add = async (place: Touched) => {
    const created = await admin.send('createFreeze', '/deployment-freezes', {
      name: uuidv7(),
      ...times,
      ...fields(place),
    })
    return `/deployment-freezes/${created.body.id}`
  }
  return places.flatMap((place): Case[] => {
    const where = JSON.stringify(place)
    const about = { kind: 'freeze' as const, touched: [place] }
    return [
      {
        what: `create a freeze of ${where}`,
        ...about,
        permission: 'freezes:create',
        send: (client) =>
          client.send('createFreeze', '/deployment-freezes', { name: uuidv7(), ...times, ...fields(place) }),
      },
      {
        what: `change a freeze of ${where}`,
        ...about,
        permission: 'freezes:update',
        touched: [place, { environments: ['staging'], solution: 'shop' }],
        send: async (client) =>
          client.send('updateFreeze', await add(place), fields({ environments: ['staging'], solution: 'shop' })),
      },
      {
        what: `delete a freeze of ${where}`,
        ...about,
        permission: 'freezes:delete',
        send: async (client) => client.send('deleteFreeze', await add(place)),
      },
    ]
  })
}

async function deploymentCases(): Promise<Case[]> {
  const cases: Case[] = []
  const named = [NONE, 'staging', 'production']
  for (const [environment, targets, source] of [
    [NONE, [NONE], 'shop'],
    ['staging', [NONE], 'shop'],
    [NONE, ['staging', NONE], 'shop'],
    ['staging', ['production'], 'shop'],
    ['production', ['production'], 'blog'],
    ['staging', ['staging'], 'sequence'],
  ] as const) {
    const places = [environment, ...targets].filter((name) => name !== NONE)
    const touched = [{ environments: [...new Set(places)], solution: source === 'sequence' ? null : source }]
    const target_ids = await Promise.all(targets.map(addTarget))
    const source_type = source === 'sequence' ? 'sequence' : 'solution'
    const parts = { source_type, source_id: id(source) } as const
    const deployment = await addDeployment(gateway.database, {
      ...parts,
      environment_id: environmentOf(environment),
      target_ids,
    })
    const plan = {
      source: { type: source_type, id: id(source) },
      targets: target_ids.map((target) => ({ id: target })),
    }
    const pending = await addPending(gateway.database, {
      source: { type: source_type, id: id(source), name: source, version: '1.0.0' },
      command: { plan },
    })
    await gateway.database.query('UPDATE pending_requests SET environment_id = $1 WHERE id = $2', [
      environmentOf(environment),
      pending,
    ])
    const about = { kind: 'deployment' as const, touched }
    const on = `${environment} with targets in ${targets}, ${source}`
    const path = `/deployments/pending/${pending}`
    cases.push(
      {
        what: `cancel in ${on}`,
        ...about,
        permission: 'deployments:cancel',
        send: (client) => client.send('cancelDeployment', `/deployments/${deployment}/cancel`, {}),
      },
      {
        what: `cancel a request in ${on}`,
        ...about,
        permission: 'deployments:cancel',
        send: (client) => client.send('cancelPending', path),
      },
      {
        what: `change a request in ${on}`,
        ...about,
        permission: 'deployments:create',
        send: (client) => client.send('updatePending', path, { priority: 1 }),
      },
      {
        what: `approve a request in ${on}`,
        ...about,
        permission: 'deployments:approve',
        send: (client) => client.send('approvePending', `${path}/approve`, {}),
      },
      {
        what: `reject a request in ${on}`,
        ...about,
        permission: 'deployments:approve',
        send: (client) => client.send('rejectPending', `${path}/reject`, {}),
      },
    )
  }
  for (const place of named) {
    const target = await addTarget(place)
    const deployment = await addDeployment(gateway.database, {
      source_type: 'solution',
      source_id: id('shop'),
      target_ids: [target],
    })
    await execute(gateway.database, deployment, 'completed')
    cases.push({
      what: `check the releases of a target in ${place}`,
      kind: 'deployment',
      permission: 'deployments:create',
      touched: [{ environments: place === NONE ? [] : [place], solution: 'shop' }],
      send: (client) => client.send('checkReleases', '/releases/check', { target_ids: [target] }),
    })
  }
  return cases
}

beforeAll(async () => {
  gateway = await startGateway()
  admin = clientOf(gateway, gateway.adminToken)
  services = await startOtherServices(gateway, () => {
    const { code, message } = toErrorBody(conflict('the other services answer nothing else here')).error
    return { ok: false, problem: { code, message } }
  })
  for (const name of ['staging', 'production']) {
    ids[name] = (await admin.send('createEnvironment', '/environments', { name })).body.id
  }
  for (const name of ['shop', 'blog', 'sequence']) {
    const source = uuidv7()
    await gateway.database.query('INSERT INTO sources (id, kind, name) VALUES ($1, $2::source_kind, $3)', [
      source,
      name === 'sequence' ? 'sequence' : 'solution',
      name,
    ])
    ids[name] = source
  }
  for (const [name, someone] of Object.entries(SUBJECTS)) clients.set(name, await clientAs(someone))
})
afterAll(async () => {
  await services.close()
  await gateway.close()
})

const clientNamed = (name: string): Client => {
  const client = clients.get(name)
  if (client === undefined) throw new Error(`no subject ${name}`)
  return client
}

test.each<[string, () => Case[] | Promise<Case[]>]>([
  ['targets', targetCases],
  ['freezes', freezeCases],
  ['deployments', deploymentCases],
])('each route of %s allows and refuses what a naive implementation says', async (_, casesOf) => {
  const cases = await casesOf()
  const different: unknown[] = []
  for (const [name, someone] of Object.entries(SUBJECTS)) {
    for (const { what, kind, permission, touched, send } of cases) {
      const { status, body } = await send(clientNamed(name))
      const allowed = status !== 403
      const expected = naivelyMay(someone, permission, touched, kind)
      if (allowed !== expected || status === 400)
        different.push({ name, what, status, expected, code: body.error?.code })
    }
  }
  expect(different).toEqual([])
})

test('GET /auth/can says the same as the rules, and why', async () => {
  const can = async (name: string, query: string) =>
    (await clientNamed(name).send('askRight', `/auth/can?permission=deployments:create${query}`)).body
  const staging = `&environment_id=${id('staging')}`
  const production = `&environment_id=${id('production')}`
  const shop = `&source_type=solution&source_id=${id('shop')}`
  expect(await can('nobody', '')).toEqual({ allowed: false, because: 'None of your roles gives deployments:create' })
  expect(await can('in staging', '')).toMatchObject({ allowed: true, because: expect.stringContaining('in its scope') })
  expect(await can('in staging', staging)).toMatchObject({ allowed: true })
  expect(await can('in staging', production)).toEqual({
    allowed: false,
    because: 'Your roles give deployments:create only for other environments or solutions',
  })
  expect(await can('for the shop', shop)).toMatchObject({ allowed: true })
  expect(await can('for the shop', `${staging}&source_type=sequence&source_id=${id('sequence')}`)).toMatchObject({
    allowed: false,
  })
  expect(await can('key for staging', production + shop)).toEqual({
    allowed: false,
    because: 'Your API key is limited to other environments or solutions',
  })
  const half = await admin.send('askRight', `/auth/can?permission=deployments:create&source_id=${id('shop')}`)
  expect(refusal(half)).toMatchObject({ status: 400 })
})

describe('bindings of users', () => {
  const user = (more: object = {}) => ({
    email: `${uuidv7()}@example.com`,
    username: uuidv7(),
    password: 'long-enough-password',
    roles: [],
    ...more,
  })
  const create = (body: object, by = admin) => by.send('createUser', '/admin/users', body)

  test('are created, shown, replaced and removed; one without scope is a role', async () => {
    const role_bindings = [
      { role: 'operator', environment_ids: [id('staging')] },
      { role: 'user', environment_ids: null, solution_ids: null },
    ]
    const { body } = await create(user({ role_bindings }))
    const shown = [{ role: 'operator', environment_ids: [id('staging')], solution_ids: null }]
    expect(body).toMatchObject({ roles: ['user'], role_bindings: shown })
    expect(body.permissions).toContain('deployments:read')
    expect(body.permissions).not.toContain('deployments:create')
    const path = `/admin/users/${body.id}`
    const renamed = await admin.send('updateUser', path, { display_name: 'Ada' })
    expect(renamed.body).toMatchObject({ roles: ['user'], role_bindings: shown })
    const moved = { role: 'operator', environment_ids: [id('production')], solution_ids: [id('shop')] }
    const changed = await admin.send('updateUser', path, { role_bindings: [moved] })
    expect(changed.body).toMatchObject({ roles: ['user'], role_bindings: [moved] })
    const none = await admin.send('updateUser', path, { roles: [], role_bindings: [] })
    expect(none.body).toMatchObject({ roles: [], role_bindings: [], permissions: [] })
  })

  test('name roles, environments and solutions that exist', async () => {
    const unknown = await create(user({ role_bindings: [{ role: 'nobody', environment_ids: [id('staging')] }] }))
    expect(refusal(unknown)).toMatchObject({
      status: 400,
      details: { errors: [expect.objectContaining({ path: '/role_bindings/0/role' })] },
    })
    const missing = await create(user({ role_bindings: [{ role: 'user', environment_ids: [uuidv7()] }] }))
    expect(refusal(missing)).toMatchObject({ status: 404 })
    const empty = await create(user({ role_bindings: [{ role: 'user', environment_ids: [] }] }))
    expect(refusal(empty)).toMatchObject({ status: 400 })
  })

  test('keep what they name from being deleted, also across tenants', async () => {
    const tenant = await addTenant(gateway, 'Bound')
    const { body: environment } = await tenant.admin.send('createEnvironment', '/environments', { name: 'ours' })
    const bound = await create(user({ role_bindings: [{ role: 'user', environment_ids: [id('staging')] }] }))
    expect(refusal(await admin.send('deleteEnvironment', `/environments/${id('staging')}`))).toEqual(
      refused(409, 'CONFLICT'),
    )
    expect(bound.status).toBe(201)
    const key = await admin.send('createApiKey', '/auth/api-keys', { name: 'k', environment_ids: [environment.id] })
    expect(key.body.api_key).toMatchObject({ environment_ids: [environment.id], solution_ids: null })
    // The administrator of the tenant does not see the key.
    const path = `/environments/${environment.id}`
    expect(refusal(await tenant.admin.send('deleteEnvironment', path))).toEqual(refused(409, 'CONFLICT'))
    await admin.send('deleteApiKey', `/auth/api-keys/${key.body.api_key.id}`)
    expect((await tenant.admin.send('deleteEnvironment', path)).status).toBe(204)
  })

  test('are given only by who holds their permissions in that scope', async () => {
    const giver = await clientAs({
      bindings: [
        { permissions: ['users:create', 'users:update', 'deployments:read'], ...EVERYWHERE },
        { permissions: ['deployments:create'], ...STAGING },
      ],
      key: null,
    })
    const { body: role } = await admin.send('createRole', '/admin/roles', {
      name: uuidv7(),
      permissions: ['deployments:create', 'deployments:read'],
    })
    const give = (scope: object) => create(user({ role_bindings: [{ role: role.name, ...scope }] }), giver)
    expect((await give({ environment_ids: [id('staging')] })).status).toBe(201)
    expect((await give({ environment_ids: [id('staging')], solution_ids: [id('shop')] })).status).toBe(201)
    const denied = refused(403, 'INSUFFICIENT_PERMISSIONS')
    expect(refusal(await give({ environment_ids: [id('production')] }))).toEqual(denied)
    expect(refusal(await give({ environment_ids: [id('staging'), id('production')] }))).toEqual(denied)
    expect(refusal(await give({ solution_ids: [id('shop')] }))).toEqual(denied)
    expect(refusal(await create(user({ roles: [role.name] }), giver))).toEqual(denied)
  })

  test('a refusal names what is touched', async () => {
    const target = await addTarget('production')
    const answer = await clientNamed('in staging').send('deleteTarget', `/targets/${target}`)
    expect(answer.body.error.details).toEqual({
      permission: 'targets:delete',
      environments: [{ id: id('production'), name: 'production' }],
      source: null,
    })
  })
})
