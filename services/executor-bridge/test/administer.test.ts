import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { recordAudit } from '@slipway/database'
import { uuidv7 } from '@slipway/runtime'
import { changeInstance, removeInstance } from '../src/instances/administer.ts'
import {
  type BridgeWithDatabase,
  ENROLMENT_TOKEN,
  endLease,
  enrolBody,
  enrolInstance,
  post,
  postSync,
  seedRun,
  startBridgeWithDatabase,
} from './setup.ts'

let bridge: BridgeWithDatabase

beforeAll(async () => {
  bridge = await startBridgeWithDatabase()
})
afterAll(() => bridge?.close())

const caller = { user_id: uuidv7(), username: 'admin', tenant_id: null, roles: ['admin'], ip: '127.0.0.1' }
const order = (deadlineMs = 8_000) => ({
  command_id: uuidv7(),
  deadline: new Date(Date.now() + deadlineMs).toISOString(),
  request_id: 'r',
})
const rowOf = async (id: string) =>
  (
    await bridge.database.query('SELECT draining, labels, removed_at, credential_hash FROM instances WHERE id = $1', [
      id,
    ])
  ).rows[0]
const drain = (instance_id: string, received = order(), as = caller) =>
  changeInstance(bridge.database, { instance_id, caller: as, draining: true }, received)

test('a change past its deadline, or one that was refused, has no effect and leaves no second record', async () => {
  const { id } = await enrolInstance(bridge)
  expect(await drain(id, order(-1))).toBeNull()
  const refused = order()
  await recordAudit(bridge.database, [
    {
      ...{ id: refused.command_id, actor_id: null, actor_name: null, actor_ip: null, action: 'instance.update' },
      ...{ resource_type: 'instance', resource_id: id, tenant_id: null, request_id: 'r' },
      details: { outcome: 'failed' },
    },
  ])
  expect(await drain(id, refused)).toBeNull()
  expect(await rowOf(id)).toMatchObject({ draining: false })
})

test('a command that comes twice is carried out once', async () => {
  const { id } = await enrolInstance(bridge)
  const received = order()
  expect(await drain(id, received)).toEqual({ instance_id: id })
  await changeInstance(bridge.database, { instance_id: id, caller, draining: false }, order())
  expect(await drain(id, received)).toEqual({ instance_id: id })
  expect(await rowOf(id)).toMatchObject({ draining: false })
})

test('a caller of a tenant is refused here too', async () => {
  const { id } = await enrolInstance(bridge)
  const error = await drain(id, order(), { ...caller, tenant_id: uuidv7() as never }).catch((problem) => problem)
  expect(error).toMatchObject({ code: 'INSUFFICIENT_PERMISSIONS' })
})

test('an enrolment keeps labels that were set, until it brings other ones itself', async () => {
  const body = enrolBody({ labels: { zone: 'a' } })
  const { id } = await enrolInstance(bridge, body)
  await changeInstance(bridge.database, { instance_id: id, caller, labels: { zone: 'set' }, draining: true }, order())
  await post(`${bridge.url}/v1/instances`, ENROLMENT_TOKEN, body)
  expect(await rowOf(id)).toMatchObject({ labels: { zone: 'set' }, draining: true })
  await post(`${bridge.url}/v1/instances`, ENROLMENT_TOKEN, { ...body, labels: { zone: 'c' } })
  expect(await rowOf(id)).toMatchObject({ labels: { zone: 'c' }, draining: true })
})

test('an instance with a live lease cannot be removed; a removed one is known no more', async () => {
  const instance = await enrolInstance(bridge)
  const { epoch } = await seedRun(bridge.database, { instanceId: instance.id })
  await bridge.database.query(`UPDATE instances SET last_heartbeat_at = now() - interval '31 seconds' WHERE id = $1`, [
    instance.id,
  ])
  const remove = () => removeInstance(bridge.database, { instance_id: instance.id, caller }, order())
  await expect(remove()).rejects.toMatchObject({ code: 'CONFLICT', details: { active: 1 } })
  await endLease(bridge.database, epoch)
  expect(await remove()).toEqual({ instance_id: instance.id })
  await expect(remove()).rejects.toMatchObject({ code: 'NOT_FOUND' })
  expect((await postSync(bridge, instance)).status).toBe(401)
})
