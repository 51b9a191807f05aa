// What is in force on a target: after a deployment, after a change by hand, and what webhooks tell of it.
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  createAction,
  deploymentEnd,
  expectedSignature,
  openTenant,
  type Receiver,
  startReceiver,
  type TestTenant,
  waitFor,
} from '@slipway/testing'

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'slipway-golden-'))
fs.chmodSync(folder, 0o777)
const FILE = `'${folder}'/"$SLIPWAY_TARGET_NAME"`
let tenant: TestTenant
let receiver: Receiver
let secret: string

beforeAll(async () => {
  ;[tenant, receiver] = await Promise.all([openTenant(), startReceiver()])
  const events = ['deployment.started', 'deployment.finished', 'release.drifted', 'release.restored']
  const { status, body } = await tenant.api.post('/webhooks', { url: receiver.url, events })
  expect(status).toBe(201)
  secret = body.secret
})
afterAll(async () => {
  await receiver.close()
  fs.rmSync(folder, { recursive: true })
})

const toldOf = (type: string) =>
  waitFor(() => receiver.received.find(({ event }) => event.type === type)?.event.data, { what: type })

test('a target that was changed by hand has drifted until the next deployment, and webhooks tell both', async () => {
  const { api } = tenant
  const action_id = await createAction(api, {
    script: `echo "$SLIPWAY_VAR_TEXT" > ${FILE}`,
    check: { script: `test "$(cat ${FILE})" = "$SLIPWAY_VAR_TEXT" || { echo "the file differs"; exit 1; }` },
    variables: [{ name: 'text', default: 'blue' }],
  })
  const [broken, whole] = [
    await tenant.createLocalTarget({ name: 'broken' }),
    await tenant.createLocalTarget({ name: 'whole' }),
  ]
  const deploy = async (more: object = {}) => {
    const { body } = await api.post('/deployments', { action_id, target_ids: [broken, whole], ...more })
    return await deploymentEnd(api, body.deployment_id)
  }
  const releases = async () => (await api.get(`/releases?action_id=${action_id}`)).body.data
  const check = async () => {
    expect((await api.post('/releases/check', { action_id })).status).toBe(202)
    return await waitFor(
      async () => {
        const found = await releases()
        return found.every((release: { check: { is_pending: boolean } }) => !release.check.is_pending) ? found : null
      },
      { what: 'the check' },
    )
  }

  const first = await deploy()
  expect(first.state).toBe('success')
  expect(await check()).toMatchObject([
    { target_name: 'broken', state: 'applied', version: '1.0.0', check: { result: 'in_sync' } },
    { target_name: 'whole', state: 'applied', check: { result: 'in_sync' } },
  ])
  fs.writeFileSync(path.join(folder, 'broken'), 'red\n')
  expect(await check()).toMatchObject([
    { target_name: 'broken', state: 'drifted', check: { message: expect.stringContaining('the file differs') } },
    { target_name: 'whole', state: 'applied' },
  ])
  expect(await toldOf('release.drifted')).toMatchObject({ target_name: 'broken', deployment_id: first.id })

  const second = await deploy({ only_changed: true })
  expect(second).toMatchObject({ state: 'success', config: { unchanged_target_ids: [whole] } })
  expect(await toldOf('release.restored')).toMatchObject({ target_name: 'broken', deployment_id: second.id })
  expect(await releases()).toMatchObject([{ state: 'applied' }, { state: 'applied' }])
  await waitFor(() => receiver.received.length === 6, { what: 'two starts and ends, the drift and its end' })
  expect(receiver.received.map((call) => call.signature)).toEqual(
    receiver.received.map((call) => expectedSignature(secret, call)),
  )
})
