import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { listItem } from '@slipway/database/read-models'
import { COMPATIBLE_VERSION, SLIPWAY_VERSION, uuidv7 } from '@slipway/runtime'
import { addPending, OTHER_VERSIONS } from '@slipway/testing'
import { type Client, clientOf, startGateway, type TestGateway } from './setup.ts'

let gateway: TestGateway
let admin: Client

beforeAll(async () => {
  gateway = await startGateway()
  admin = clientOf(gateway, gateway.adminToken)
})
beforeEach(() => gateway.database.query('TRUNCATE pending_requests, leases, instance_slots, instances CASCADE'))
afterAll(() => gateway.close())

const ZONE_A = { match_labels: { zone: 'a' } }
const addPooled = (selector: object | null, priority = 0) =>
  addPending(gateway.database, {
    priority,
    command: { plan: selector === null ? {} : { instance_selector: selector } },
  })

interface InstanceParts {
  slots?: number
  taken?: number
  draining?: boolean
  heard?: string | null
  version?: string
}

async function addInstance(labels: object, parts: InstanceParts = {}): Promise<string> {
  const { slots = 1, taken = 0, draining = false, heard = '1 second', version = SLIPWAY_VERSION } = parts
  const { database } = gateway
  const id = uuidv7()
  await database.query(
    `INSERT INTO instances (id, name, version, capacity, credential_hash, last_heartbeat_at, labels, draining)
     VALUES ($1, $1::uuid::text, $6, $2, '', now() - $3::interval, $4, $5)`,
    [id, slots, heard, labels, draining, version],
  )
  await database.query('INSERT INTO instance_slots (instance_id, slot) SELECT $1, generate_series(0, $2 - 1)', [
    id,
    slots,
  ])
  await database.query(
    'INSERT INTO leases (instance_id, slot, deployment_id) SELECT $1, slot, gen_random_uuid() FROM generate_series(0, $2 - 1) AS slot',
    [id, taken],
  )
  return id
}

const list = async () => (await admin.send('listPending', '/deployments/pending')).body

test('a request that no instance matches names the missing labels', async () => {
  await addPooled(ZONE_A)
  await addInstance({ zone: 'b' })
  expect(await list()).toMatchObject([
    {
      waiting_for: 'instance_pool',
      waiting_reason: 'No orchestration instance matches zone=a (1 instance known): start one with these labels',
      instance_pool: {
        ...{ name: 'zone=a', selector: ZONE_A, position: 1, known: 1 },
        ...{ matching: 0, accepting: 0, slots: 0, taken: 0 },
      },
    },
  ])
})

test('a request whose instances accept no runs gives the reason', async () => {
  await addPooled(ZONE_A)
  await addInstance({ zone: 'a' }, { draining: true })
  await addInstance({ zone: 'a' }, { heard: '31 seconds' })
  await addInstance({ zone: 'a' }, { heard: null })
  await addInstance({ zone: 'a' }, { version: OTHER_VERSIONS.minor })
  await addInstance({})
  const removed = await addInstance({ zone: 'a' }, { heard: null })
  await gateway.database.query('UPDATE instances SET removed_at = now() WHERE id = $1', [removed])
  const [item] = await list()
  expect(item.waiting_reason).toBe(
    'No orchestration instance that matches zone=a can take it: of 4 instances 2 sent no heartbeat for 30 seconds, 1 draining, ' +
      `1 of another version than ${COMPATIBLE_VERSION}`,
  )
  expect(item.instance_pool).toMatchObject({ known: 5, matching: 4, accepting: 0 })
})

test('a request of a full pool waits for the capacity of that pool', async () => {
  await addPooled({ match_labels: { zone: 'b' } }, 100)
  await addPooled(ZONE_A, 9)
  const second = await addPooled(ZONE_A)
  await addInstance({ zone: 'a' }, { slots: 2, taken: 2 })
  await addInstance({ zone: 'c' }, { slots: 50 })
  const item = (await list()).find(({ id }: { id: string }) => id === second)
  expect(item).toMatchObject({
    position: 3,
    waiting_for: 'capacity',
    waiting_reason: 'All 2 slots of 1 orchestration instance that matches zone=a are taken; 1 request before it',
    instance_pool: { position: 2, slots: 2, taken: 2, accepting: 1 },
  })
  // A change stream sends the same item.
  const viewer = { tenant_id: null, may_override_freezes: true }
  const context = { db: gateway.database, keys: gateway.dependencies.keys, viewer }
  expect(await listItem(context, 'pending', second)).toEqual(item)
})

test('requests of a pool without instances do not count as waiting before others', async () => {
  for (let n = 0; n < 3; n += 1) await addPooled(ZONE_A, 100)
  const free = await addPooled(null)
  await addInstance({})
  const item = (await list()).find(({ id }: { id: string }) => id === free)
  expect(item).toMatchObject({
    position: 4,
    waiting_for: 'capacity',
    waiting_reason: expect.stringMatching('About to start'),
  })
  expect(item).not.toHaveProperty('instance_pool')
})
