import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { OperationId } from '@slipway/contracts'
import { addPending } from '@slipway/testing'
import { addDeployment } from './deployment-rows.ts'
import { addUser, type Client, clientOf, refusal, refused, startGateway, type TestGateway, taken } from './setup.ts'

interface Records {
  tenant: string
  action: string
  sequence: string
  environment: string
  target: string
  freeze: string
  deployment: string
  pending: string
}

let gateway: TestGateway
let admin: Client
let ofA: Client
let a: Records
let b: Records
let shared: Omit<Records, 'tenant'>

const definition = { type: 'script', script: 'true' }
const freezeTimes = { start_time: '2026-01-01T00:00:00Z', end_time: '2026-01-02T00:00:00Z' }

async function recordsOf(name: string, tenant: string | null): Promise<Omit<Records, 'tenant'>> {
  const own = { name, tenant_id: tenant }
  const id = async (op: OperationId, path: string, body: object) => (await admin.send(op, path, body)).body.id as string
  const action = await id('createAction', '/actions', { ...own, version: '1.0.0', definition })
  const environment = await id('createEnvironment', '/environments', own)
  return {
    action,
    environment,
    sequence: await id('createSequence', '/sequences', {
      ...own,
      version: '1.0.0',
      definition: { actions: [{ action_id: action }] },
    }),
    target: await id('createTarget', '/targets', {
      ...own,
      connection: { type: 'local' },
      tags: [{ key: 'of', value: name }],
    }),
    freeze: await id('createFreeze', '/deployment-freezes', { ...own, ...freezeTimes }),
    deployment: await addDeployment(gateway.database, { tenant_id: tenant }),
    pending: await addPending(gateway.database, { tenant_id: tenant }),
  }
}

beforeAll(async () => {
  gateway = await startGateway()
  admin = clientOf(gateway, gateway.adminToken)
  const tenant = async (name: string) => (await admin.send('createTenant', '/tenants', { name })).body.id as string
  const [tenantA, tenantB] = [await tenant('A'), await tenant('B')]
  a = { tenant: tenantA, ...(await recordsOf('a', tenantA)) }
  b = { tenant: tenantB, ...(await recordsOf('b', tenantB)) }
  shared = await recordsOf('shared', null)
  ofA = clientOf(gateway, (await addUser(gateway, { role: 'admin', tenant_id: tenantA })).token)
})
afterAll(() => gateway.close())

const PATHS: [OperationId, (records: Omit<Records, 'tenant'>) => string][] = [
  ['getAction', ({ action }) => `/actions/${action}`],
  ['listActionVersions', ({ action }) => `/actions/${action}/versions`],
  ['getActionVersion', ({ action }) => `/actions/${action}/versions/1.0.0`],
  ['getSequence', ({ sequence }) => `/sequences/${sequence}`],
  ['getEnvironment', ({ environment }) => `/environments/${environment}`],
  ['getTarget', ({ target }) => `/targets/${target}`],
  ['getFreeze', ({ freeze }) => `/deployment-freezes/${freeze}`],
  ['getDeployment', ({ deployment }) => `/deployments/${deployment}`],
  ['listDeploymentLogs', ({ deployment }) => `/deployments/${deployment}/logs/history`],
  ['listCommandResults', ({ deployment }) => `/deployments/${deployment}/analysis`],
]

/** Deployments are never shared. Callers of a tenant do not see deployments without a tenant. */
const isShared = (op: OperationId) => !/Deployment|CommandResult/.test(op)

test.each(PATHS)('%s: own and shared records are found, and those of another tenant are 404', async (op, path) => {
  expect((await ofA.send(op, path(a))).status).toBe(200)
  expect((await ofA.send(op, path(shared))).status).toBe(isShared(op) ? 200 : 404)
  expect(refusal(await ofA.send(op, path(b)))).toEqual(refused(404, 'NOT_FOUND'))
  expect((await admin.send(op, path(b))).status).toBe(200)
})

const LISTS: [OperationId, string, (records: Omit<Records, 'tenant'>) => string][] = [
  ['listActions', '/actions', ({ action }) => action],
  ['listSequences', '/sequences', ({ sequence }) => sequence],
  ['listEnvironments', '/environments', ({ environment }) => environment],
  ['listTargets', '/targets', ({ target }) => target],
  ['listFreezes', '/deployment-freezes', ({ freeze }) => freeze],
  ['listDeployments', '/deployments', ({ deployment }) => deployment],
]

test.each(LISTS)('%s counts and lists own and shared records only', async (op, path, idOf) => {
  const { body } = await ofA.send(op, path)
  const expected = isShared(op) ? [idOf(a), idOf(shared)] : [idOf(a)]
  expect(body.data.map(({ id }: { id: string }) => id).sort()).toEqual(expected.sort())
  expect(body.meta.total).toBe(expected.length)
  expect((await admin.send(op, path)).body.meta.total).toBe(3)
})

test('tenants, tags and pending requests of other tenants are not listed', async () => {
  const tenants = await ofA.send('listTenants', '/tenants')
  expect(tenants.body.data).toMatchObject([{ id: a.tenant }])
  expect(refusal(await ofA.send('getTenant', `/tenants/${b.tenant}`))).toEqual(refused(404, 'NOT_FOUND'))
  const tags = await ofA.send('listTags', '/tags')
  expect(tags.body.data.map(({ value }: { value: string }) => value)).toEqual(['a', 'shared'])
  const pending = await ofA.send('listPending', '/deployments/pending')
  expect(pending.body.map(({ id }: { id: string }) => id).sort()).toEqual([a.pending])
})

test('the current user contains its tenant', async () => {
  expect((await ofA.send('getCurrentUser', '/auth/me')).body.tenant_id).toBe(a.tenant)
  expect((await admin.send('getCurrentUser', '/auth/me')).body.tenant_id).toBeNull()
})

test('deployments to a shared target are listed only for their own tenant', async () => {
  const include = (deployment: string, target: string) =>
    gateway.database.query(
      'UPDATE deployment_targets SET target_id = $2 WHERE deployment_id = $1 AND target_index = 0',
      [deployment, target],
    )
  for (const { deployment } of [a, b, shared]) await include(deployment, shared.target)
  const read = async (client: Client, target: string) =>
    (await client.send('listTargetDeployments', `/targets/${target}/deployments`)).body
  const ids = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id)
  expect(ids(await read(ofA, shared.target))).toEqual([a.deployment])
  const all = await read(admin, shared.target)
  expect(ids(all)).toEqual([shared.deployment, b.deployment, a.deployment])
  expect(all.meta.total).toBe(3)
  await gateway.database.query(
    `UPDATE steps SET state = 'completed', started_at = now(), completed_at = now()
      WHERE deployment_id = $1 AND target_index = 0 AND action_index = 0`,
    [a.deployment],
  )
  expect((await read(ofA, shared.target)).data).toMatchObject([{ target_steps: { total: 2, completed: 1, failed: 0 } }])
  const second = await admin.send('listTargetDeployments', `/targets/${shared.target}/deployments?limit=1&page=2`)
  expect(ids(second.body)).toEqual([b.deployment])
  expect(refusal(await ofA.send('listTargetDeployments', `/targets/${b.target}/deployments`))).toEqual(
    refused(404, 'NOT_FOUND'),
  )
})

test('a filter by another tenant finds nothing', async () => {
  const { body } = await ofA.send('listDeployments', `/deployments?tenant_id=${b.tenant}`)
  expect(body.meta.total).toBe(0)
  expect((await ofA.send('listPending', `/deployments/pending?tenant_id=${b.tenant}`)).body).toEqual([])
})

describe('writing records', () => {
  const target = (more: object) => ({ name: `t ${Math.random()}`, connection: { type: 'simulated' }, ...more })

  test('a record of a caller of a tenant always belongs to that tenant', async () => {
    for (const tenant_id of [undefined, null, a.tenant]) {
      const { body } = await ofA.send('createTarget', '/targets', target(tenant_id === undefined ? {} : { tenant_id }))
      expect(body.tenant_id).toBe(a.tenant)
    }
  })

  test('an id of another tenant in a body is reported as unknown', async () => {
    const response = await ofA.send(
      'createTarget',
      '/targets',
      target({ tenant_id: b.tenant, environment_id: b.environment }),
    )
    expect(refusal(response)).toEqual(
      refused(404, 'NOT_FOUND', {
        missing: [
          { path: '/tenant_id', id: b.tenant },
          { path: '/environment_id', id: b.environment },
        ],
      }),
    )
    const sequence = await ofA.send('createSequence', '/sequences', {
      name: 'foreign',
      version: '1.0.0',
      definition: { actions: [{ action_id: b.action }] },
    })
    expect(refusal(sequence)).toMatchObject(refused(404, 'NOT_FOUND'))
  })

  test('a record cannot refer to a record of another tenant, whoever the caller is', async () => {
    const response = await admin.send(
      'createTarget',
      '/targets',
      target({ tenant_id: a.tenant, environment_id: b.environment }),
    )
    expect(refusal(response)).toMatchObject(refused(400, 'VALIDATION_ERROR', { errors: [{ path: '/environment_id' }] }))
    const sharedTarget = await admin.send('createTarget', '/targets', target({ environment_id: b.environment }))
    expect(refusal(sharedTarget)).toMatchObject(refused(400, 'VALIDATION_ERROR'))
  })

  test('another tenant may use the same name, but one tenant only once', async () => {
    expect((await ofA.send('createEnvironment', '/environments', { name: 'b' })).status).toBe(201)
    expect(refusal(await ofA.send('createEnvironment', '/environments', { name: 'a' }))).toEqual(taken('/name'))
  })

  test('a tenant cannot change shared records', async () => {
    const version = { version: '2.0.0', definition }
    const publish = (id: string) => ofA.send('createActionVersion', `/actions/${id}/versions`, version)
    expect(refusal(await publish(shared.action))).toEqual(refused(403, 'INSUFFICIENT_PERMISSIONS'))
    expect(refusal(await publish(b.action))).toEqual(refused(404, 'NOT_FOUND'))
    expect((await publish(a.action)).status).toBe(201)
    const cancel = (id: string) => ofA.send('cancelDeployment', `/deployments/${id}/cancel`, {})
    for (const id of [shared.deployment, b.deployment]) {
      expect(refusal(await cancel(id))).toEqual(refused(404, 'NOT_FOUND'))
    }
    const drop = (id: string) => ofA.send('cancelPending', `/deployments/pending/${id}`)
    for (const id of [shared.pending, b.pending]) expect(refusal(await drop(id))).toEqual(refused(404, 'NOT_FOUND'))
    const redeploy = await ofA.send('redeployDeployment', `/deployments/${b.deployment}/redeploy`, {})
    expect(refusal(redeploy)).toEqual(refused(404, 'NOT_FOUND'))
  })

  test('callers of a tenant cannot create tenants', async () => {
    expect(refusal(await ofA.send('createTenant', '/tenants', { name: 'C' }))).toEqual(refused(403, 'FORBIDDEN'))
  })
})

test('a secret of a shared record is masked for a tenant that sees no source with its name', async () => {
  const name = 'payment_key'
  const secret = { variables: { [name]: 'planted-value' }, sensitive_variables: [name] }
  const action = { name: 'pays', tenant_id: b.tenant, version: '1.0.0' }
  const variables = [{ name, sensitive: true }]
  await admin.send('createAction', '/actions', { ...action, definition: { ...definition, variables } })
  for (const [kind, path, more] of [
    ['Target', '/targets', { connection: { type: 'local' } }],
    ['Environment', '/environments', {}],
  ] as const) {
    const { body } = await admin.send(`create${kind}`, path, { name: 'shared secret', ...more, ...secret })
    const answers = [
      await ofA.send(`get${kind}`, `${path}/${body.id}`),
      await ofA.send(`list${kind}s`, path),
      await admin.send(`get${kind}`, `${path}/${body.id}`),
    ]
    for (const answer of answers) expect(JSON.stringify(answer.body)).not.toContain('planted-value')
    expect(answers[0]?.body).toMatchObject({ variables: { [name]: '***' }, sensitive_variables: [name] })
  }
})
