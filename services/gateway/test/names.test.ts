import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { uuidv7 } from '@slipway/runtime'
import { type Client, clientOf, refusal, refused, startGateway, type TestGateway, taken } from './setup.ts'

let gateway: TestGateway
let admin: Client
let tenant: string

beforeAll(async () => {
  gateway = await startGateway()
  admin = clientOf(gateway, gateway.adminToken)
  tenant = (await admin.send('createTenant', '/tenants', { name: 'Owner' })).body.id
})
afterAll(() => gateway.close())

const TIMES = { start_time: '2030-01-01T00:00:00Z', end_time: '2030-01-02T00:00:00Z' }
const version = (definition: object) => ({ version: '1.0.0', definition })
const script = version({ type: 'script', script: 'true' })
let action: string
const actionId = async () => {
  action ??= (await admin.send('createAction', '/actions', { name: 'part', ...script })).body.id
  return action
}

interface Kind {
  create: string
  update: string
  path: string
  body(): Promise<object>
  field?: 'username'
  isOfTenants?: true
}

const KINDS: Record<string, Kind> = {
  tenant: { create: 'createTenant', update: 'updateTenant', path: '/tenants', body: async () => ({}) },
  environment: {
    ...{ create: 'createEnvironment', update: 'updateEnvironment', path: '/environments', isOfTenants: true },
    body: async () => ({}),
  },
  target: {
    ...{ create: 'createTarget', update: 'updateTarget', path: '/targets', isOfTenants: true },
    body: async () => ({ connection: { type: 'simulated' } }),
  },
  freeze: {
    ...{ create: 'createFreeze', update: 'updateFreeze', path: '/deployment-freezes', isOfTenants: true },
    body: async () => TIMES,
  },
  action: {
    ...{ create: 'createAction', update: 'updateAction', path: '/actions', isOfTenants: true },
    body: async () => script,
  },
  sequence: {
    ...{ create: 'createSequence', update: 'updateSequence', path: '/sequences', isOfTenants: true },
    body: async () => version({ actions: [{ action_id: await actionId() }] }),
  },
  role: {
    ...{ create: 'createRole', update: 'updateRole', path: '/admin/roles' },
    body: async () => ({ permissions: ['targets:read'] }),
  },
  user: {
    ...{ create: 'createUser', update: 'updateUser', path: '/admin/users', field: 'username' },
    body: async () => ({ email: `${uuidv7()}@example.com`, password: 'a long password', roles: [] }),
  },
}

const send = (operation: string, path: string, body: object) => admin.send(operation as never, path as never, body)

describe.each(Object.entries(KINDS))('names of the kind %s', (_, kind) => {
  const field = kind.field ?? 'name'
  const create = async (name: string, more: object = {}) =>
    send(kind.create, kind.path, { ...(await kind.body()), [field]: name, ...more })

  test('that differ only in case, composition or invisible characters are one; the refusal names the record in the way', async () => {
    const made = await create('Caf\u00e9 Nord')
    expect([made.status, made.body]).toEqual([201, expect.anything()])
    for (const name of [
      'Caf\u00e9 Nord',
      'caf\u00e9 nord',
      'Cafe\u0301 Nord',
      'Caf\u00e9\u200b Nord',
      'CAF\u00c9\u00a0NORD',
    ]) {
      const answer = await create(name)
      expect([name, refusal(answer)]).toEqual([name, taken(`/${field}`)])
      expect(answer.body.error.message).toContain('"Caf\u00e9 Nord"')
      expect(answer.body.error.message).toContain(made.body.id)
    }
    const other = await create('Cafe Nord')
    expect(other.status).toBe(201)
    const renamed = await send(kind.update, `${kind.path}/${other.body.id}`, { [field]: 'CAF\u00c9 NORD' })
    expect(refusal(renamed)).toEqual(taken(`/${field}`))
    expect(renamed.body.error.message).toContain(made.body.id)
    // A record may change the spelling of its own name, and its former name is free after a rename.
    expect((await send(kind.update, `${kind.path}/${made.body.id}`, { [field]: 'CAF\u00c9 NORD' })).status).toBe(200)
    expect((await send(kind.update, `${kind.path}/${made.body.id}`, { [field]: 'S\u00fcd' })).status).toBe(200)
    expect((await create('caf\u00e9 nord')).status).toBe(201)
    if (kind.isOfTenants) expect((await create('s\u00fcd', { tenant_id: tenant })).status).toBe(201)
  })

  test('with controls of the writing direction or C1 controls are refused', async () => {
    for (const character of ['\u202e', '\u2066', '\u200f', '\u061c', '\u009b'])
      expect(refusal(await create(`a${character}b`))).toMatchObject(refused(400, 'VALIDATION_ERROR'))
  })
})
