import { describe, expect, test } from '@jest/globals'
import { type InstanceSelector, matchesLabels } from '@slipway/domain'
import { testLogger as logger, roundsOf } from '@slipway/testing'
import fc from 'fast-check'
import { finishDeployment } from '../src/deployments/finish.ts'
import { createSweep } from '../src/runs/sweep.ts'
import { testDatabase } from './database.ts'
import { addInstance, clear, copyRequest, liveLease, loseInstance } from './fixtures.ts'
import { requestsOf } from './requests.ts'

const db = await testDatabase()
const { database, asDispatcher, catalog } = db
const { dispatchAll, submit, pending } = requestsOf(db)

type Labels = Record<string, string>
const zone = (value: string): InstanceSelector => ({ match_labels: { zone: value } })

async function addLabelled(capacity: number, labels: Labels): Promise<string> {
  const id = await addInstance(database, capacity)
  await relabel(id, labels)
  return id
}
const relabel = (id: string, labels: Labels) =>
  database.query('UPDATE instances SET labels = $2 WHERE id = $1', [id, labels])
const instanceOf = async (id: string) => (await liveLease(database, id))?.instance_id ?? null
const placeOf = async (id: string) => (await pending(id)).dispatched_to_instance_id

async function finish(id: string): Promise<void> {
  const epoch = (await liveLease(database, id))?.epoch ?? 0
  await finishDeployment(asDispatcher, { deployment_id: id, epoch, outcome: 'success', error_message: null })
}

describe('a deployment with an instance selector', () => {
  test('starts only on an instance that matches, even if others have more free slots', async () => {
    const [a, b] = [await addLabelled(1, { zone: 'a' }), await addLabelled(50, { zone: 'b' })]
    expect(await instanceOf(await submit({ selector: zone('a') }))).toBe(a)
    expect(await instanceOf(await submit({ selector: zone('b') }))).toBe(b)
    const waits = await submit({ selector: zone('a') })
    expect((await pending(waits)).status).toBe('pending')
    await dispatchAll()
    expect((await pending(waits)).status).toBe('pending')
  })

  test('that no instance matches does not delay pending or new requests of other pools', async () => {
    const full = await addLabelled(1, { zone: 'a' })
    const running = await submit({ selector: zone('a') })
    const stuck = []
    for (let n = 0; n < 5; n += 1) stuck.push(await submit({ selector: zone('nowhere'), priority: 100 }))
    const behind = [await submit({ selector: zone('a') }), await submit()]
    const b = await addLabelled(1, { zone: 'b' })
    // The request without a selector is the first that may use this instance.
    await dispatchAll()
    expect(await placeOf(behind[1] ?? '')).toBe(b)
    await finish(running)
    await dispatchAll()
    expect(await placeOf(behind[0] ?? '')).toBe(full)
    const c = await addLabelled(1, { zone: 'c' })
    expect(await instanceOf(await submit({ selector: zone('c') }))).toBe(c)
    for (const id of stuck) expect((await pending(id)).status).toBe('pending')
  })

  test('starts when an instance gets matching labels', async () => {
    const other = await addLabelled(1, { zone: 'b' })
    const waits = await submit({ selector: zone('a') })
    await dispatchAll()
    expect(await placeOf(waits)).toBeNull()
    await relabel(other, { zone: 'a' })
    await dispatchAll()
    expect(await placeOf(waits)).toBe(other)
  })

  test('starts before later requests that could use the same instance', async () => {
    const a = await addLabelled(1, { zone: 'a' })
    const running = await submit({ selector: zone('a') })
    const first = await submit({ selector: zone('a') })
    await finish(running)
    // The slot is free, and the dispatcher has not run yet.
    const later = await submit()
    expect((await pending(later)).status).toBe('pending')
    await dispatchAll()
    expect(await placeOf(first)).toBe(a)
    expect(await placeOf(later)).toBeNull()
  })

  test('without a selector leaves a labelled instance to a request that needs it', async () => {
    const [a, any] = [await addLabelled(1, { zone: 'a' }), await addLabelled(1, {})]
    await database.query('UPDATE instances SET draining = true')
    const [free, bound] = [await submit(), await submit({ selector: zone('a') })]
    await database.query('UPDATE instances SET draining = false')
    await dispatchAll()
    expect([await placeOf(free), await placeOf(bound)]).toEqual([any, a])
  })

  test('that lost its instance moves to another matching one, and until then does not stop other deployments', async () => {
    const lost = await addLabelled(2, { zone: 'a' })
    const other = await addLabelled(5, { zone: 'b' })
    const [one, two] = [await submit({ selector: zone('a') }), await submit({ selector: zone('a') })]
    await loseInstance(database, lost)
    await createSweep({ database: asDispatcher, logger })()
    await dispatchAll()
    expect([await instanceOf(one), await instanceOf(two)]).toEqual([null, null])
    // A new deployment starts at once on an instance that no orphan may use.
    expect(await instanceOf(await submit({ selector: zone('b') }))).toBe(other)
    expect(await instanceOf(await submit())).toBe(other)
    const second = await addLabelled(1, { zone: 'a' })
    expect((await pending(await submit({ selector: zone('a') }))).status).toBe('pending')
    await dispatchAll()
    expect([await instanceOf(one), await instanceOf(two)].sort()).toEqual([null, second].sort())
  })

  test('goes on and starts although 501 lost deployments need instances that are gone', async () => {
    const lost = await addLabelled(1, { zone: 'a' })
    const orphan = await submit({ selector: zone('a') })
    await loseInstance(database, lost)
    await createSweep({ database: asDispatcher, logger })()
    await database.query(
      `WITH gone AS (
         INSERT INTO deployments (id, state, source_type, source_id, source_name, source_version, plan_head, selection, total_steps)
         SELECT gen_random_uuid(), 'running', source_type, source_id, source_name, source_version, plan_head ||
                '{"instance_selector":{"match_labels":{"zone":"gone"}}}' || '{"options":{"priority":9}}', selection, 0
           FROM deployments, generate_series(1, 501) WHERE id = $1 RETURNING id)
       INSERT INTO leases (instance_id, slot, deployment_id, ended_at, end_reason)
       SELECT $2, 0, id, now(), 'lost' FROM gone`,
      [orphan, lost],
    )
    const b = await addLabelled(2, { zone: 'a' })
    await dispatchAll()
    expect(await instanceOf(orphan)).toBe(b)
    expect(await instanceOf(await submit({ selector: zone('a') }))).toBe(b)
  })

  test('of a tenant uses an instance of the tenant only if it matches', async () => {
    const own = await addLabelled(1, { zone: 'b' })
    await database.query('UPDATE instances SET tenant_id = $2 WHERE id = $1', [own, catalog.tenant_id])
    const shared = await addLabelled(2, { zone: 'a' })
    expect(await instanceOf(await submit({ tenant: true, selector: zone('a') }))).toBe(shared)
    expect(await instanceOf(await submit({ tenant: true, selector: zone('b') }))).toBe(own)
    expect((await pending(await submit({ selector: zone('b') }))).status).toBe('pending')
  })

  test('is found behind a thousand requests of a pool without instances', async () => {
    const a = await addLabelled(5, { zone: 'a' })
    await database.query('UPDATE instances SET draining = true')
    await copyRequest(database, await submit({ selector: zone('b'), priority: 10 }), { count: 1_000, priority: 10 })
    const mine: string[] = []
    for (let n = 0; n < 5; n += 1) mine.push(await submit({ selector: zone('a') }))
    await database.query('UPDATE instances SET draining = false')
    await dispatchAll()
    expect(new Set(await Promise.all(mine.map(placeOf)))).toEqual(new Set([a]))
  })
})

const SELECTORS: (InstanceSelector | undefined)[] = [
  undefined,
  zone('a'),
  zone('b'),
  { match_labels: { disk: 'ssd' } },
  { match_expressions: [{ key: 'zone', operator: 'NotIn', values: ['a'] }] },
]
const LABELS: Labels[] = [{}, { zone: 'a' }, { zone: 'b' }, { zone: 'a', disk: 'ssd' }, { disk: 'ssd' }]

test('for random requests and instances, each start matches, no usable slot stays free, and each pool keeps its order', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ labels: fc.constantFrom(...LABELS), capacity: fc.integer({ min: 1, max: 2 }) }), {
        maxLength: 4,
      }),
      fc.array(
        fc.record({
          selector: fc.integer({ min: 0, max: SELECTORS.length - 1 }),
          priority: fc.integer({ min: -1, max: 1 }),
        }),
        { minLength: 1, maxLength: 8 },
      ),
      fc.boolean(),
      async (instances, requests, comeLater) => {
        await clear(database)
        const labelsOf = new Map<string, Labels>()
        for (const { labels, capacity } of instances) labelsOf.set(await addLabelled(capacity, labels), labels)
        if (comeLater) await database.query('UPDATE instances SET draining = true')
        const submitted: { id: string; selector: InstanceSelector | undefined }[] = []
        for (const { selector: index, priority } of requests) {
          const selector = SELECTORS[index]
          submitted.push({ id: await submit({ priority, ...(selector && { selector }) }), selector })
        }
        await database.query('UPDATE instances SET draining = false')
        await dispatchAll()

        const selectorOf = new Map(submitted.map(({ id, selector }) => [id, selector ?? null]))
        const { rows: waiting } = await database.query<{ id: string; rank: number; pool_key: string | null }>(
          `SELECT id, rank, pool_key FROM pending_requests WHERE status = 'pending'`,
        )
        const { rows: started } = await database.query<{
          id: string
          instance_id: string
          rank: number | null
          pool_key: string | null
        }>(
          `SELECT coalesce(p.id, l.deployment_id) AS id, l.instance_id, p.rank, p.pool_key
             FROM leases l LEFT JOIN pending_requests p ON p.deployment_id = l.deployment_id`,
        )
        for (const { id, instance_id } of started) {
          expect(matchesLabels(selectorOf.get(id) ?? null, labelsOf.get(instance_id) ?? {})).toBe(true)
        }
        const { rows: free } = await database.query<{ instance_id: string }>(
          `SELECT instance_id FROM instance_slots s JOIN instances i ON i.id = s.instance_id
            WHERE NOT i.draining AND NOT EXISTS (
              SELECT FROM leases l WHERE l.instance_id = s.instance_id AND l.slot = s.slot AND l.ended_at IS NULL)`,
        )
        for (const { id, rank, pool_key } of waiting) {
          const usable = free.filter(({ instance_id }) =>
            matchesLabels(selectorOf.get(id) ?? null, labelsOf.get(instance_id) ?? {}),
          )
          expect(usable).toEqual([])
          const overtaking = started.filter((one) => one.pool_key === pool_key && one.rank !== null && one.rank > rank)
          expect(overtaking).toEqual([])
        }
      },
    ),
    { numRuns: roundsOf(25, 200) },
  )
})
