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
  test('is given deployments of this tenant at once, before instances that serve all', async () => {
    const shared = await addInstance(database, 5)
    const own = await addOwn(1)
    expect(await instanceOf(await submit(ofTenant))).toBe(own)
    expect(await instanceOf(await submit(ofTenant))).toBe(shared)
  })

  test('is never given a deployment of another tenant, or of none', async () => {
    await addOwn(5, OTHER)
    const [one, two] = [await submit(ofTenant), await submit()]
    await dispatchAll()
    expect([(await pending(one)).status, (await pending(two)).status]).toEqual(['pending', 'pending'])
    const shared = await addInstance(database, 2)
    await dispatchAll()
    const { rows } = await database.query('SELECT DISTINCT instance_id FROM leases')
    expect(rows).toEqual([{ instance_id: shared }])
  })

  test('is given what waits, past any number of requests that it may not run', async () => {
    const others = []
    for (let n = 0; n < 8; n += 1) others.push(await submit({ priority: 100 }))
    const mine = [await submit(ofTenant), await submit(ofTenant), await submit(ofTenant)]
    const own = await addOwn(2)
    await dispatchAll()
    const dispatched = await Promise.all(mine.map(pending))
    expect(dispatched.map(({ dispatched_to_instance_id }) => dispatched_to_instance_id)).toEqual([own, own, null])
    for (const id of others) expect((await pending(id)).status).toBe('pending')
  })

  test('leaves the instances that serve all to the others, under a limit of tenants too', async () => {
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

  test('that is full, or lost, leaves the requests of its tenant to instances that serve all', async () => {
    await database.query('UPDATE queue_settings SET tenant_running_limit = 5')
    const own = await addOwn(1)
    expect(await instanceOf(await submit(ofTenant))).toBe(own)
    const waits = await submit(ofTenant)
    const shared = await addInstance(database, 1)
    await dispatchAll()
    expect((await pending(waits)).dispatched_to_instance_id).toBe(shared)
  })

  test('takes up a deployment of its tenant whose instance was lost, and none of others', async () => {
    const lost = await addInstance(database, 2)
    const [mine, others] = [await submit(ofTenant), await submit()]
    await loseInstance(database, lost)
    await createSweep({ database: asDispatcher, logger })()
    const own = await addOwn(5)
    await dispatchAll()
    expect([await instanceOf(mine), await instanceOf(others)]).toEqual([own, null])
  })

  test('is found among many at once', async () => {
    const own = await addOwn(60)
    const shared = await addInstance(database, 60)
    const lost = await addOwn(60, OTHER)
    const ids: { id: string; mine: boolean }[] = []
    // Slots of a few and of many are locked by different statements.
    await database.query('UPDATE instances SET draining = true')
    for (let n = 0; n < 90; n += 1) ids.push({ id: await submit(n % 2 === 0 ? ofTenant : {}), mine: n % 2 === 0 })
    await database.query('UPDATE instances SET draining = false')
    await dispatchAll()
    for (const { id, mine } of ids) expect((await pending(id)).dispatched_to_instance_id).toBe(mine ? own : shared)
    const { rowCount } = await database.query('SELECT FROM leases WHERE instance_id = $1', [lost])
    expect(rowCount).toBe(0)
  })

  test('whose slot becomes free is given the next one of its tenant', async () => {
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
