// Requests that wait: for a target, in the order of their priority, until they are cancelled, and while a freeze lasts.
import { beforeAll, expect, test } from '@jest/globals'
import { createAction, deploymentEnd, dispatchedDeployment, openTenant, type TestTenant } from '@slipway/testing'

let tenant: TestTenant

beforeAll(async () => {
  tenant = await openTenant()
})

test('requests for a busy target wait by priority, can be cancelled, and start when the target is free', async () => {
  const { api } = tenant
  const slow = await createAction(api, { script: 'sleep 600' })
  const quick = await createAction(api)
  const target_ids = [await tenant.createLocalTarget({ name: 'busy', concurrency: 'queue' })]
  const holder = await api.post('/deployments', { action_id: slow, target_ids })
  expect(holder.status).toBe(201)

  const ask = async (priority: number): Promise<string> => {
    const answer = await api.post('/deployments', { action_id: quick, target_ids, priority })
    expect(answer).toMatchObject({ status: 202, body: { pending: true } })
    return answer.body.pending_request_id
  }
  const [low, high, unwanted] = [await ask(-5), await ask(5), await ask(0)]
  const waiting = await api.get('/deployments/pending')
  expect(waiting.body.map(({ id }: { id: string }) => id)).toEqual([high, unwanted, low])
  expect(waiting.body[0]).toMatchObject({ position: 1, waiting_reason: expect.stringContaining('busy') })

  expect((await api.call('DELETE', `/deployments/pending/${unwanted}`)).status).toBe(200)
  expect(await api.post(`/deployments/${holder.body.deployment_id}/cancel`, { reason: 'enough' })).toMatchObject({
    status: 200,
    body: { state: 'cancelled' },
  })
  // A request keeps its id when it starts.
  expect(await Promise.all([high, low].map((id) => dispatchedDeployment(api, id)))).toEqual([high, low])
  const [first, second] = [await deploymentEnd(api, high), await deploymentEnd(api, low)]
  expect([first.state, second.state]).toEqual(['success', 'success'])
  expect(Date.parse(second.started_at)).toBeGreaterThan(Date.parse(first.started_at))
})

test('a freeze refuses a deployment, and an administrator overrides it with a reason that the audit log keeps', async () => {
  const { api } = tenant
  const freeze = await api.post('/deployment-freezes', {
    name: 'stocktaking',
    tenant_id: tenant.id,
    start_time: new Date(Date.now() - 60_000).toISOString(),
    end_time: new Date(Date.now() + 3_600_000).toISOString(),
  })
  expect(freeze.status).toBe(201)
  const request = {
    action_id: await createAction(api),
    target_ids: [await tenant.createLocalTarget()],
    tenant_id: tenant.id,
    environment_id: tenant.environment,
  }
  expect(await api.post('/deployments', request)).toMatchObject({
    status: 409,
    body: {
      error: { code: 'DEPLOYMENT_FROZEN', details: { active_freezes: [{ name: 'stocktaking' }], can_override: true } },
    },
  })
  expect((await api.post('/deployments/preview', request)).body).toMatchObject({
    blockers: [{ code: 'freeze', can_override: true, details: { freezes: [{ name: 'stocktaking' }] } }],
    warnings: [expect.stringContaining('stocktaking')],
  })
  const override = { override_freeze: true, override_reason: 'urgent fix' }
  const created = await api.post('/deployments', { ...request, ...override })
  expect(created.status).toBe(201)
  expect(await deploymentEnd(api, created.body.deployment_id)).toMatchObject({ state: 'success' })
  const { body } = await api.get(`/audit/logs?resource_id=${created.body.deployment_id}`)
  expect(JSON.stringify(body.data)).toContain('urgent fix')
})
