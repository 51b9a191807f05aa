import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { uuidv7 } from '@slipway/runtime'
import { addPending } from '@slipway/testing'
import request from 'supertest'
import type { Client, TestGateway } from './setup.ts'

// visibility.ts is replaced, so every query of the gateway finds the records of all tenants.
const wall = new URL('./no-first-wall/visibility.ts', import.meta.url)
const instead = <M>(file: string): Promise<M> => import(`${file}?instead=${encodeURIComponent(wall.href)}`)
const { addUser, clientOf, startGateway } = await instead<typeof import('./setup.ts')>('./setup.ts')
const { addDeployment, execute } = await instead<typeof import('./deployment-rows.ts')>('./deployment-rows.ts')

let gateway: TestGateway
let ofA: Client
let admin: Client
const ids: Record<'a' | 'b', Record<string, string>> = { a: {}, b: {} }

const definition = { type: 'script', script: 'true' }
const times = { start_time: '2026-01-01T00:00:00Z', end_time: '2026-01-02T00:00:00Z' }

beforeAll(async () => {
  gateway = await startGateway()
  admin = clientOf(gateway, gateway.adminToken)
  for (const name of ['a', 'b'] as const) {
    const id = async (op: Parameters<Client['send']>[0], at: string, body: object) =>
      (await admin.send(op, at, body)).body.id as string
    const tenant_id = await id('createTenant', '/tenants', { name })
    const own = { name, tenant_id }
    ids[name] = {
      tenants: tenant_id,
      actions: await id('createAction', '/actions', { ...own, version: '1.0.0', definition }),
      environments: await id('createEnvironment', '/environments', own),
      targets: await id('createTarget', '/targets', {
        ...own,
        connection: { type: 'simulated' },
        tags: [{ key: 'of', value: name }],
      }),
      'deployment-freezes': await id('createFreeze', '/deployment-freezes', { ...own, ...times }),
      deployments: await addDeployment(gateway.database, { tenant_id }),
      'deployments/pending': await addPending(gateway.database, { tenant_id }),
    }
  }
  ofA = clientOf(gateway, (await addUser(gateway, { role: 'admin', tenant_id: ids.a['tenants'] ?? '' })).token)
})
afterAll(() => gateway.close())

const LISTS = [
  ['listActions', 'actions'],
  ['listEnvironments', 'environments'],
  ['listTargets', 'targets'],
  ['listTenants', 'tenants'],
  ['listFreezes', 'deployment-freezes'],
  ['listDeployments', 'deployments'],
  ['listPending', 'deployments/pending'],
] as const

test.each(LISTS)('%s shows nothing of another tenant', async (op, kind) => {
  const { body } = await ofA.send(op, `/${kind}`)
  expect((body.data ?? body).map(({ id }: { id: string }) => id)).toEqual([ids.a[kind]])
  if (body.meta !== undefined) expect(body.meta.total).toBe(1)
  const everything = await admin.send(op, `/${kind}`)
  expect((everything.body.data ?? everything.body).length).toBe(2)
})

test('tags of another tenant are not listed', async () => {
  const { body } = await ofA.send('listTags', '/tags')
  expect(body.data.map(({ value }: { value: string }) => value)).toEqual(['a'])
})

describe('a record of another tenant is not found', () => {
  test.each([
    ['getAction', 'actions', ''],
    ['getActionVersion', 'actions', '/versions/1.0.0'],
    ['getEnvironment', 'environments', ''],
    ['getTarget', 'targets', ''],
    ['getTenant', 'tenants', ''],
    ['getFreeze', 'deployment-freezes', ''],
    ['getDeployment', 'deployments', ''],
    ['listDeploymentLogs', 'deployments', '/logs/history'],
    ['listCommandResults', 'deployments', '/analysis'],
  ] as const)('%s', async (op, kind, rest) => {
    expect((await ofA.send(op, `/${kind}/${ids.b[kind]}${rest}`)).status).toBe(404)
    expect((await ofA.send(op, `/${kind}/${ids.a[kind]}${rest}`)).status).toBe(200)
    expect((await admin.send(op, `/${kind}/${ids.b[kind]}${rest}`)).status).toBe(200)
  })

  test('its id in a body is 404', async () => {
    const body = { name: 'stolen', connection: { type: 'simulated' }, environment_id: ids.b['environments'] }
    expect((await ofA.send('createTarget', '/targets', body)).status).toBe(404)
  })
})

test('content of another tenant is not found', async () => {
  const content = { a: '', b: '' }
  const script = { type: 'script', script: 'true' }
  for (const name of ['a', 'b'] as const) {
    const { token } = await addUser(gateway, { role: 'operator', tenant_id: ids[name]['tenants'] ?? '' })
    const upload = request(gateway.app).post('/api/v1/content').set('Authorization', `Bearer ${token}`)
    content[name] = (await upload.send(`of ${name}`)).body.id
    const action = { version: '1.0.0', definition: { ...script, files: [{ content: content[name], path: 'x' }] } }
    expect((await clientOf(gateway, token).send('createAction', '/actions', { name: 'x', ...action })).status).toBe(201)
  }
  expect((await ofA.send('getContent', `/content/${content.a}`)).status).toBe(200)
  expect((await ofA.send('getContent', `/content/${content.b}`)).status).toBe(404)
  const { body: listed } = await ofA.send('listContent', '/content')
  expect(listed).toMatchObject({ data: [{ id: content.a, version_count: 1 }], meta: { total: 1 } })
  const stolen = { version: '1.0.0', definition: { ...script, files: [{ content: content.b, path: 'x' }] } }
  expect((await ofA.send('createAction', '/actions', { name: 'stolen', ...stolen })).status).toBe(400)
})

test('releases of another tenant on a shared target are not listed', async () => {
  const shared = { name: 'shared', connection: { type: 'simulated' } }
  const target = (await admin.send('createTarget', '/targets', shared)).body.id as string
  const source_id = uuidv7()
  const deploy = async (tenant: 'a' | 'b') => {
    const parts = { tenant_id: ids[tenant]['tenants'] ?? '', source_id, target_ids: [target] }
    const id = await addDeployment(gateway.database, parts)
    await execute(gateway.database, id, 'completed')
    return id
  }
  const list = async (client: Client) =>
    (await client.send('listReleases', `/releases?target_id=${target}`)).body.data.map(
      ({ deployment_id }: { deployment_id: string }) => deployment_id,
    )
  await deploy('b')
  const ofTenant = await deploy('a')
  expect(await list(ofA)).toEqual([ofTenant])
  const changes = await ofA.send('getDeploymentChanges', `/deployments/${ofTenant}/changes`)
  expect(changes.body.replaces).toMatchObject([{ deployment_id: null, version: null, difference: null }])
  const last = await deploy('b')
  expect([await list(ofA), await list(admin)]).toEqual([[], [last]])
  expect((await ofA.send('getReleaseMatrix', '/releases/matrix')).body.data).toEqual([])
  const history = await ofA.send('listTargetReleases', `/targets/${target}/releases`)
  expect(history.body.data).toMatchObject([{ deployment_id: ofTenant, replaced_deployment_id: null }])
  expect((await admin.send('listTargetReleases', `/targets/${target}/releases`)).body.meta.total).toBe(3)
  expect((await ofA.send('getDeploymentChanges', `/deployments/${last}/changes`)).status).toBe(404)
})

test('the gateway uses no findUnique, because Prisma merges those of concurrent calls', () => {
  // Prisma merges the findUnique calls of one turn of the event loop. The query then runs for the tenant of the first.
  const src = path.resolve(import.meta.dirname, '../src')
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
  expect(files.length).toBeGreaterThan(10)
  expect(files.filter((name) => /\.findUnique/.test(readFileSync(path.join(src, name), 'utf8')))).toEqual([])
})
