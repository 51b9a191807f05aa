import { afterEach, describe, expect, test } from '@jest/globals'
import { recordAudit } from '@slipway/database/audit'
import { uuidv7 } from '@slipway/runtime'
import { finishDeployment } from '../src/deployments/finish.ts'
import { applySettings } from '../src/pending/settings.ts'
import { updatePending } from '../src/pending/update.ts'
import { testDatabase } from './database.ts'
import {
  ADMIN,
  addCatalog,
  addInstance,
  type CommandOptions,
  copyRequest,
  deployment,
  outbox,
  queue,
  startCommand,
  startDeployment,
} from './fixtures.ts'
import { requestsOf } from './requests.ts'

const db = await testDatabase()
const { database, asDispatcher, catalog } = db
const { dispatchAll, submit } = requestsOf(db)
const other = await addCatalog(database)

afterEach(() => applySettings(asDispatcher, queue))

/** Moves the time at which a request was queued into the past. */
async function age(id: string, seconds: number): Promise<void> {
  await database.query(
    `UPDATE pending_requests SET queued_at = queued_at - make_interval(secs => $2), rank = rank - $2::bigint * 1000 WHERE id = $1`,
    [id, seconds],
  )
}

async function statuses(...ids: string[]): Promise<string[]> {
  const { rows } = await database.query<{ status: string }>(
    `SELECT coalesce(p.status::text, 'started') AS status FROM unnest($1::uuid[]) WITH ORDINALITY AS i (id, place)
       LEFT JOIN pending_requests p USING (id) ORDER BY place`,
    [ids],
  )
  return rows.map(({ status }) => status)
}

async function finishOneOf(tenant: string): Promise<void> {
  const { rows } = await database.query<{ deployment_id: string; epoch: number }>(
    `SELECT l.deployment_id, l.epoch FROM leases l JOIN deployments d ON d.id = l.deployment_id
      WHERE l.ended_at IS NULL AND d.tenant_id = $1 ORDER BY l.epoch LIMIT 1`,
    [tenant],
  )
  await finishDeployment(asDispatcher, { ...rows[0], outcome: 'success', error_message: null } as never)
}

async function queueOrder(): Promise<string[]> {
  const { rows } = await database.query<{ id: string }>(
    `SELECT id FROM pending_requests WHERE status = 'pending' ORDER BY rank, id`,
  )
  return rows.map(({ id }) => id)
}

test('the higher priority starts first, whatever the age; among equals the older one does, also before new requests', async () => {
  const [young, old] = [await submit(), await submit()]
  const urgent = await submit({ priority: 1 })
  await age(old, 10 * 365 * 86_400)
  expect(await queueOrder()).toEqual([urgent, old, young])
  await addInstance(database, 1)
  await dispatchAll()
  expect(await statuses(urgent, old, young)).toEqual(['dispatched', 'pending', 'pending'])
  const create = (priority: number) =>
    startDeployment(database, startCommand(catalog, { priority }), { request_id: null })
  await addInstance(database, 1)
  expect(await create(1)).toMatchObject({ outcome: 'started' })
  await addInstance(database, 1)
  expect(await create(0)).toMatchObject({ outcome: 'queued' })
})

describe('a limit for each tenant', () => {
  const limit = (tenant_running_limit: number | null) => applySettings(asDispatcher, { ...queue, tenant_running_limit })
  const ofTenant = (more: CommandOptions = {}) => submit({ tenant: true, ...more })

  test('holds only the requests of this tenant; when a deployment ends, the next request starts', async () => {
    await limit(2)
    const ids = [await ofTenant({ priority: 9 }), await ofTenant({ priority: 8 }), await ofTenant({ priority: 7 })]
    const [theirs, shared] = [await submit({ tenant: true }, other), await submit({ priority: -9 })]
    await addInstance(database, 20)
    await dispatchAll()
    expect(await statuses(...ids, theirs, shared)).toEqual([
      'dispatched',
      'dispatched',
      'pending',
      'dispatched',
      'dispatched',
    ])
    await finishOneOf(catalog.tenant_id)
    await dispatchAll()
    expect(await statuses(...ids)).toEqual(['dispatched', 'dispatched', 'dispatched'])
  })

  test('queues a request that has a free slot, and does not delay requests of other tenants', async () => {
    await limit(1)
    await addInstance(database, 20)
    const [first, second] = [await ofTenant(), await ofTenant({ priority: 100 })]
    expect(await statuses(first, second)).toEqual(['started', 'pending'])
    expect(await statuses(await submit({ tenant: true }, other), await submit())).toEqual(['started', 'started'])
    await dispatchAll()
    expect(await statuses(second)).toEqual(['pending'])
    await limit(null)
    await dispatchAll()
    expect(await statuses(second)).toEqual(['dispatched'])
  })

  test('is kept when many requests start at the same time and the queue is empty', async () => {
    await limit(3)
    await addInstance(database, 40)
    const started = async () => (await database.query('SELECT FROM deployments')).rowCount
    await Promise.all(Array.from({ length: 20 }, () => ofTenant()))
    expect(await started()).toBeLessThanOrEqual(3)
    await dispatchAll()
    expect(await started()).toBe(3)
  })

  test('is kept when many requests start while several dispatchers work', async () => {
    await limit(3)
    for (let n = 0; n < 10; n += 1) {
      await ofTenant({ priority: 100 })
      await submit({ tenant: true }, other)
    }
    await addInstance(database, 40)
    await Promise.all([dispatchAll(), dispatchAll(), ...Array.from({ length: 20 }, () => ofTenant()), dispatchAll()])
    await dispatchAll()
    const { rows } = await database.query<{ tenant_id: string; n: number }>(
      'SELECT tenant_id, count(*) AS n FROM deployments WHERE completed_at IS NULL GROUP BY tenant_id',
    )
    expect(rows.map(({ n }) => n)).toEqual([3, 3])
    for (let n = 0; n < 5; n += 1) {
      await finishOneOf(catalog.tenant_id)
      await Promise.all([dispatchAll(), ofTenant(), ofTenant()])
    }
    const { rows: live } = await database.query<{ n: number }>(
      'SELECT count(*) AS n FROM deployments WHERE completed_at IS NULL AND tenant_id = $1',
      [catalog.tenant_id],
    )
    expect(live[0]?.n).toBe(3)
  })

  test('the dispatcher finds a request behind 1,000 requests of one tenant', async () => {
    await limit(1)
    await copyRequest(database, await ofTenant(), { count: 1_000, priority: 50 })
    const last = await submit({ priority: -100 })
    await addInstance(database, 5)
    await dispatchAll()
    expect(await statuses(last)).toEqual(['dispatched'])
  })
})

describe('pending.update', () => {
  const update = (id: string, priority: number, command_id = uuidv7(), caller = ADMIN) =>
    updatePending(asDispatcher, { pending_request_id: id, priority, caller }, { command_id, request_id: 'request-3' })

  test('changes the order, publishes an event, is recorded once, and sets the priority of the deployment', async () => {
    const [first, second] = [await submit({ priority: 5 }), await submit()]
    const command = uuidv7()
    expect(await update(second, 6, command)).toEqual({ pending_request_id: second })
    expect(await queueOrder()).toEqual([second, first])
    // A copy of an earlier command message changes nothing.
    await update(second, 1)
    expect(await update(second, 6, command)).toEqual({ pending_request_id: second })
    expect(await queueOrder()).toEqual([first, second])
    await update(second, 6)
    expect(await outbox(database, second)).toEqual(['pending.created', ...Array(3).fill('pending.updated')])
    const { rows } = await database.query(
      `SELECT id, action, resource_type, request_id, details FROM audit_records
        WHERE resource_id = $1 AND action <> 'deployment.create' ORDER BY number`,
      [second],
    )
    expect(rows).toHaveLength(3)
    expect(rows[0]).toEqual({
      id: command,
      action: 'pending_request.update',
      resource_type: 'pending_request',
      request_id: 'request-3',
      details: { priority: 6, former_priority: 0 },
    })

    await addInstance(database, 1)
    await dispatchAll()
    expect(await statuses(second, first)).toEqual(['dispatched', 'pending'])
    const { rows: dispatched } = await database.query<{ deployment_id: string }>(
      'SELECT deployment_id FROM pending_requests WHERE id = $1',
      [second],
    )
    const { plan_head } = await deployment(database, String(dispatched[0]?.deployment_id))
    expect(plan_head).toMatchObject({ options: { priority: 6, max_retries: 0 } })
  })

  test('is refused after the dispatch, for another tenant, and after the sender has given it up', async () => {
    const [waiting, theirs] = [await submit(), await submit({ tenant: true })]
    const tenant = { ...ADMIN, tenant_id: other.tenant_id }
    await expect(update(theirs, 1, uuidv7(), tenant)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(update(waiting, 1, uuidv7(), tenant)).rejects.toMatchObject({ code: 'INSUFFICIENT_PERMISSIONS' })
    await expect(update(uuidv7(), 1)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    const given = uuidv7()
    await recordAudit(database, [
      {
        id: given,
        actor_id: ADMIN.user_id,
        actor_name: ADMIN.username,
        actor_ip: ADMIN.ip,
        action: 'pending_request.update',
        resource_type: 'pending_request',
        resource_id: waiting,
        tenant_id: null,
        request_id: null,
        details: { outcome: 'failed', status: 503, code: 'SERVICE_UNAVAILABLE' },
      },
    ])
    expect(await update(waiting, 50, given)).toBeNull()
    await addInstance(database, 1)
    await dispatchAll()
    await expect(update(waiting, 1)).rejects.toMatchObject({ code: 'CONFLICT' })
    const { rows } = await database.query('SELECT priority FROM pending_requests WHERE id = $1', [waiting])
    expect(rows).toEqual([{ priority: 0 }])
  })

  test('an update during the dispatch applies to request and deployment, or to neither', async () => {
    const ids = await Promise.all(Array.from({ length: 10 }, () => submit()))
    await addInstance(database, 10)
    const updates = ids.map((id) =>
      update(id, 7).then(
        () => true,
        () => false,
      ),
    )
    await dispatchAll()
    const changed = await Promise.all(updates)
    await dispatchAll()
    const { rows } = await database.query<{ id: string; priority: number; shown: number }>(
      `SELECT p.id, p.priority, (d.plan_head #>> '{options,priority}')::int AS shown
         FROM pending_requests p JOIN deployments d ON d.id = p.deployment_id`,
    )
    expect(rows).toHaveLength(10)
    for (const { id, priority, shown } of rows) {
      const expected = changed[ids.indexOf(id)] ? 7 : 0
      expect([priority, shown]).toEqual([expected, expected])
    }
  })
})
