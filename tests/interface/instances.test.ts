import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import {
  type Api,
  connectTo,
  createAction,
  createGate,
  createLocalTarget,
  createUser,
  deploymentEnd,
  dispatchedDeployment,
  loginToSuite,
  type Suite,
  startSuite,
  waitFor,
} from '@slipway/testing'

let suite: Suite
let database: Awaited<ReturnType<typeof connectTo>>
let admin: Api
let path: string

beforeAll(async () => {
  suite = await startSuite({ capacity: 2 })
  database = await connectTo(suite.databaseUrl)
  admin = await loginToSuite(suite)
  path = `/admin/instances/${(await admin.get('/admin/instances')).body.data[0].id}`
})
afterEach(() => suite.restore())

afterAll(async () => {
  await database.end()
  await suite.stop()
})

const deploy = async (script: string) =>
  admin.post('/deployments', {
    action_id: await createAction(admin, { script }),
    target_ids: [await createLocalTarget(admin)],
  })

test('an instance has the documented fields in the list and by id', async () => {
  const { body } = await admin.get('/admin/instances?search=ON')
  expect(body.meta).toMatchObject({ total: 1, page: 1 })
  expect(body.data).toEqual([
    {
      id: expect.any(String),
      name: 'one',
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      status: 'online',
      capacity: 2,
      active: 0,
      draining: false,
      last_heartbeat_at: expect.stringMatching(/Z$/),
      labels: {},
      allowed_labels: {},
      tenant_id: null,
      created_at: expect.stringMatching(/Z$/),
    },
  ])
  const { status, body: one } = await admin.get(path)
  expect({ status, name: one.name }).toEqual({ status: 200, name: 'one' })
  expect((await admin.get('/admin/instances?search=two')).body.data).toEqual([])
})

test('a draining instance finishes its runs and gets no new ones; after that pending requests start', async () => {
  const gate = createGate(suite)
  const running = await deploy(gate.script)
  expect(running.status).toBe(201)
  const drained = await admin.call('PATCH', path, { draining: true, labels: { zone: 'b' } })
  expect(drained).toMatchObject({ status: 200, body: { status: 'draining', active: 1, labels: { zone: 'b' } } })
  const queued = await deploy('true')
  expect(queued.status).toBe(202)
  gate.open()
  expect((await deploymentEnd(admin, running.body.deployment_id)).state).toBe('success')
  const { body: waiting } = await admin.get('/deployments/pending')
  expect(waiting.map(({ id }: { id: string }) => id)).toEqual([queued.body.pending_request_id])
  const undrained = await admin.call('PATCH', path, { draining: false })
  expect(undrained.body).toMatchObject({ status: 'online', labels: { zone: 'b' } })
  const id = await dispatchedDeployment(admin, queued.body.pending_request_id)
  expect((await deploymentEnd(admin, id)).state).toBe('success')
})

test('only an administrator without tenant changes instances; other users read them', async () => {
  const { body: tenant } = await admin.post('/tenants', { name: randomUUID() })
  const [bound, operator] = [
    await createUser(suite, admin, ['admin'], tenant.id),
    await createUser(suite, admin, ['operator']),
  ]
  for (const other of [bound, operator]) {
    expect((await other.get(path)).status).toBe(200)
    const refusals = [await other.call('PATCH', path, { draining: true }), await other.call('DELETE', path)]
    for (const { status, body } of refusals) {
      expect([status, body.error.code]).toEqual([403, 'INSUFFICIENT_PERMISSIONS'])
    }
  }
  expect((await admin.get(path)).body.draining).toBe(false)
})

test('an unknown instance is 404, an unknown field is 400, and the removal of an online instance is 409', async () => {
  for (const id of [randomUUID(), 'one']) expect((await admin.get(`/admin/instances/${id}`)).status).toBe(404)
  expect((await admin.call('PATCH', `/admin/instances/${randomUUID()}`, { draining: true })).status).toBe(404)
  const wrong = await admin.call('PATCH', path, { drained: true, labels: { '': 'x' } })
  expect(wrong.body.error.details.errors.map(({ path: at }: { path: string }) => at).sort()).toEqual([
    '/drained',
    '/labels/',
  ])
  const online = await admin.call('DELETE', path)
  expect([online.status, online.body.error.code]).toEqual([409, 'CONFLICT'])
})

test('a removed instance does not exist until it joins again with a new token', async () => {
  await suite.kill('orchestration-instance')
  await database.query(`UPDATE instances SET last_heartbeat_at = now() - interval '1 minute', draining = true`)
  expect((await admin.get(path)).body).toMatchObject({ status: 'offline', draining: true })
  expect((await admin.call('DELETE', path)).status).toBe(204)
  expect((await admin.get(path)).status).toBe(404)
  expect((await admin.get('/admin/instances')).body.meta.total).toBe(0)
  expect((await admin.call('DELETE', path)).status).toBe(404)

  const restarted = suite.start('orchestration-instance')
  await waitFor(() => suite.logOf('orchestration-instance').includes('has removed this instance'))
  await suite.giveJoinToken('orchestration-instance')
  await restarted
  expect((await admin.get(path)).body).toMatchObject({ status: 'online', labels: {}, draining: false })
  const { status, body } = await deploy('true')
  expect(status).toBe(201)
  expect((await deploymentEnd(admin, body.deployment_id)).state).toBe('success')
})
