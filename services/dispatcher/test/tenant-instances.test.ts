import { beforeEach, describe, expect, test } from '@jest/globals'
import { uuidv7 } from '@slipway/runtime'
import { testLogger as logger } from '@slipway/testing'
import { finishDeployment } from '../src/deployments/finish.ts'
import { createSweep } from '../src/runs/sweep.ts'
import { testDatabase } from './database.ts'
import { addInstance, type CommandOptions, liveLease, loseInstance } from './fixtures.ts'
import { requestsOf } from './requests.ts'

const db = await testDatabase()
const { database, asDispatcher, catalog } = db
const { dispatchAll, submit, pending } = requestsOf(db)

const OTHER = uuidv7()
beforeEach(() => database.query('UPDATE queue_settings SET tenant_running_limit = NULL'))

/** An instance that serves one tenant only. */
async function addOwn(capacity: number, tenantId = catalog.tenant_id): Promise<string> {
  const id = await addInstance(database, capacity)
  await database.query('UPDATE instances SET tenant_id = $2 WHERE id = $1', [id, tenantId])
  return id
}
const instanceOf = async (id: string) => (await liveLease(database, id))?.instance_id ?? null
const ofTenant: CommandOptions = { tenant: true }

describe('an instance of a tenant', () => {
  test('gets the deployments of its tenant before shared instances do', async () => {
    const shared = await addInstance(database, 5)
    const own = await addOwn(1)
    expect(await instanceOf(await submit(ofTenant))).toBe(own)
    expect(await instanceOf(await submit(ofTenant))).toBe(shared)
  })

  test('gets no deployment of another tenant or without tenant', async () => {
    await addOwn(5, OTHER)
    const [one, two] = [await submit(ofTenant), await submit()]
    await dispatchAll()
    expect([(await pending(one)).status, (await pending(two)).status]).toEqual(['pending', 'pending'])
    const shared = await addInstance(database, 2)
    await dispatchAll()
    const { rows } = await database.query('SELECT DISTINCT instance_id FROM leases')
    expect(rows).toEqual([{ instance_id: shared }])
  })

  test('gets the pending requests of its tenant, even behind requests that it may not run', async () => {
    const others = []
    for (let n = 0; n < 8; n += 1) others.push(await submit({ priority: 100 }))
    const mine = [await submit(ofTenant), await submit(ofTenant), await submit(ofTenant)]
    const own = await addOwn(2)
    await dispatchAll()
    const dispatched = await Promise.all(mine.map(pending))
    expect(dispatched.map(({ dispatched_to_instance_id }) => dispatched_to_instance_id)).toEqual([own, own, null])
    for (const id of others) expect((await pending(id)).status).toBe('pending')
  })

  test('runs requests of its tenant before shared instances do, also with a tenant limit', async () => {
    await database.query('UPDATE queue_settings SET tenant_running_limit = 2')
    const mine = [await submit(ofTenant), await submit(ofTenant), await submit(ofTenant)]
    const none = await submit()
    const [own, shared] = [await addOwn(1), await addInstance(database, 5)]
    await dispatchAll()
    const places = await Promise.all([...mine, none].map(pending))
    expect(places.map(({ dispatched_to_instance_id }) => dispatched_to_instance_id)).toEqual([
      own,
      shared,
      null,
      shared,
    ])
  })

  test('that is full leaves further requests of its tenant to shared instances', async () => {
    await database.query('UPDATE queue_settings SET tenant_running_limit = 5')
    const own = await addOwn(1)
    expect(await instanceOf(await submit(ofTenant))).toBe(own)
    const waits = await submit(ofTenant)
    const shared = await addInstance(database, 1)
    await dispatchAll()
    expect((await pending(waits)).dispatched_to_instance_id).toBe(shared)
  })

  test('takes over an orphan of its tenant, and no other orphan', async () => {
    const lost = await addInstance(database, 2)
    const [mine, others] = [await submit(ofTenant), await submit()]
    await loseInstance(database, lost)
    await createSweep({ database: asDispatcher, logger })()
    const own = await addOwn(5)
    await dispatchAll()
    expect([await instanceOf(mine), await instanceOf(others)]).toEqual([own, null])
  })

  test('gets exactly the requests of its tenant when many requests are dispatched at once', async () => {
    const own = await addOwn(60)
    const shared = await addInstance(database, 60)
    const lost = await addOwn(60, OTHER)
    const ids: { id: string; mine: boolean }[] = []
    // A batch of many requests locks its slots by another statement than a batch of few.
    await database.query('UPDATE instances SET draining = true')
    for (let n = 0; n < 90; n += 1) ids.push({ id: await submit(n % 2 === 0 ? ofTenant : {}), mine: n % 2 === 0 })
    await database.query('UPDATE instances SET draining = false')
    await dispatchAll()
    for (const { id, mine } of ids) expect((await pending(id)).dispatched_to_instance_id).toBe(mine ? own : shared)
    const { rowCount } = await database.query('SELECT FROM leases WHERE instance_id = $1', [lost])
    expect(rowCount).toBe(0)
  })

  test('gets the next request of its tenant when its slot becomes free', async () => {
    const own = await addOwn(1)
    const first = await submit(ofTenant)
    const next = await submit(ofTenant)
    const lease = await liveLease(database, first)
    const end = { deployment_id: first, epoch: lease?.epoch ?? 0, outcome: 'success', error_message: null } as const
    await finishDeployment(asDispatcher, end)
    await dispatchAll()
    expect((await pending(next)).dispatched_to_instance_id).toBe(own)
  })
})
