import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createLocalTarget, deploymentEnd } from '@slipway/testing'
import { api, original, refusalOf, start, stop, target, valid } from './create-rules.ts'

beforeAll(start)
afterAll(stop)

const nothing = () => ({
  deployment_id: null,
  pending: false,
  message: expect.any(String),
  unchanged_target_ids: [target.id],
})
const countDeployments = async () => (await api.get('/deployments')).body.meta.total
const request = () => ({ ...valid(), only_changed: true })

test('a create that changes no target creates nothing, also when it is repeated with the same key', async () => {
  const [before, key, requestId] = [await countDeployments(), randomUUID(), `only-changed-${randomUUID()}`]
  for (let n = 0; n < 2; n += 1) {
    const headers = { 'idempotency-key': key, 'x-request-id': requestId }
    const { status, body } = await api.call('POST', '/deployments', request(), headers)
    expect({ status, body }).toEqual({ status: 200, body: nothing() })
  }
  expect(await countDeployments()).toBe(before)
  const { data: records } = (await api.get('/audit/logs?limit=100')).body
  const calls = records.map(({ request_id }: { request_id: string }) => request_id)
  expect(calls).not.toContain(requestId)
})

test('a redeploy that changes no target creates nothing', async () => {
  const before = await countDeployments()
  const { status, body } = await api.post(`/deployments/${original}/redeploy`, { only_changed: true })
  expect({ status, body }).toEqual({ status: 200, body: nothing() })
  expect(await countDeployments()).toBe(before)
})

test('a preview and a dry run that change no target are refused with 409', async () => {
  const expected = { status: 409, code: 'CONFLICT', details: { unchanged_target_ids: [target.id] } }
  expect(refusalOf(await api.post('/deployments/preview', request()))).toEqual(expected)
  expect(refusalOf(await api.post('/deployments', { ...request(), dry_run: true }))).toEqual(expected)
})

test('a key of a create without changed targets can create a deployment later', async () => {
  const headers = { 'idempotency-key': randomUUID() }
  const body = { ...request(), target_tags: [{ key: 'fleet', value: 'only-changed' }], target_ids: undefined }
  const first = await createLocalTarget(api, { tags: [{ key: 'fleet', value: 'only-changed' }] })
  const created = await api.post('/deployments', body)
  await deploymentEnd(api, created.body.deployment_id)
  expect((await api.call('POST', '/deployments', body, headers)).body.unchanged_target_ids).toEqual([first])
  const second = await createLocalTarget(api, { tags: [{ key: 'fleet', value: 'only-changed' }] })
  const { status, body: answer } = await api.call('POST', '/deployments', body, headers)
  expect(status).toBe(201)
  const { plan } = await deploymentEnd(api, answer.deployment_id)
  expect(plan.steps.map(({ target_id }: { target_id: string }) => target_id)).toEqual([second])
})
