import { expect, test } from '@jest/globals'
import { readRound, readShown } from '@slipway/database'
import { listItems } from '@slipway/database/read-models'
import { admit, blockersIn, type Decision } from '@slipway/engine'
import { uuidv7 } from '@slipway/runtime'
import { roundsOf } from '@slipway/testing'
import { applySettings } from '../src/pending/settings.ts'
import { testDatabase } from './database.ts'
import { ADMIN, addInstance, clear, keys, queue } from './fixtures.ts'
import { requestsOf } from './requests.ts'
import { targetsOf } from './targets.ts'

const db = await testDatabase()
const { database, asDispatcher, catalog } = db
const { addTargets, deploy } = targetsOf(db)
const { dispatchAll } = requestsOf(db)
await addTargets({ a: null, b: 'queue', c: 'queue', d: 'reject', e: 'supersede' })

async function decideShown(pending: readonly string[]) {
  const { snapshot, requests } = await readShown(asDispatcher, { pending, arrivals: [] })
  return new Map(admit(snapshot, requests, snapshot.now).map((decision) => [decision.request.id, decision]))
}
const codesOf = (decision: Decision | undefined) =>
  decision === undefined ? undefined : blockersIn(decision).map(({ code }) => code)

const addFreeze = () =>
  database.query(
    `INSERT INTO freezes (id, name, start_time, end_time, tenant_id)
     VALUES ($1, 'hold', now() - interval '1 hour', now() + interval '1 hour', $2)`,
    [uuidv7(), catalog.tenant_id],
  )
const pendingIds = async () =>
  (
    await database.query<{ id: string }>(`SELECT id FROM pending_requests WHERE status = 'pending' ORDER BY id`)
  ).rows.map(({ id }) => id)

test('a request has all its blockers, also those that the round does not need to know', async () => {
  const instance = await addInstance(database, 2)
  await applySettings(database, { ...queue, tenant_running_limit: 1 })
  const running = await deploy('b', { tenant: true })
  const other = await deploy('a')
  const first = await deploy('c')
  const caller = { ...ADMIN, may_override_freezes: false }
  const blocked = await deploy('bc', { tenant: true, caller })
  await addFreeze()
  await database.query('UPDATE pending_requests SET retry_count = 60, last_retry_at = now() WHERE id = $1', [blocked])

  const decision = (await decideShown([blocked])).get(blocked)
  expect(decision).toMatchObject({
    is: 'wait',
    blockers: [
      { code: 'freeze', freezes: [{ name: 'hold', tenant_id: catalog.tenant_id }] },
      { code: 'tenant_limit', running: 1, limit: 1 },
      { code: 'target_lock', held: [{ holder: { deployment_id: running } }], reserved: [{ policy: 'queue' }] },
      { code: 'retry_delay' },
      { code: 'capacity', pool: { slots: 2, taken: 2 } },
    ],
  })
  // The request that comes first for the other target waits for a slot alone.
  expect(codesOf((await decideShown([first])).get(first))).toEqual(['capacity'])

  // A slot becomes free: the next round starts the first request, so the others still find all slots taken.
  await database.query('UPDATE leases SET ended_at = now() WHERE instance_id = $1 AND deployment_id = $2', [
    instance,
    other,
  ])
  const decisions = await decideShown([blocked, first])
  expect(decisions.get(first)?.is).toBe('start')
  expect(codesOf(decisions.get(blocked))).toContain('capacity')
  await applySettings(database, queue)
})

const random = (() => {
  let state = 20_261_129
  return (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return Math.floor((state / 2 ** 31) * below)
  }
})()
const pick = <T>(first: T, ...others: readonly T[]): T => [first, ...others][random(others.length + 1)] ?? first

const someTargets = () => pick('a', 'a', 'a', 'b', 'c', 'bc', 'abc', 'd', 'e', 'be')
const options = () => ({
  priority: random(3) - 1,
  tenant: random(2) === 0,
  caller: random(2) === 0 ? ADMIN : { ...ADMIN, may_override_freezes: false },
  freeze_override: random(3) === 0 ? { reason: 'x' } : null,
  ...(random(4) === 0 ? { selector: { match_labels: { zone: pick('a', 'b') } } } : {}),
})

/** Changes what requests wait for. */
async function changeFacts(): Promise<void> {
  await database.query('DELETE FROM freezes')
  if (random(3) === 0) await addFreeze()
  await applySettings(database, { ...queue, tenant_running_limit: pick<number | null>(null, 1, 3) })
  await database.query('UPDATE instances SET labels = $1, draining = $2, tenant_id = $3', [
    pick<object>({}, { zone: 'a' }),
    random(6) === 0,
    random(5) === 0 ? catalog.tenant_id : null,
  ])
  await database.query('UPDATE instance_slots SET retired = slot >= $1', [pick(1, 2, 4, 9)])
  const retried = (await pendingIds()).filter(() => random(5) === 0)
  await database.query(
    'UPDATE pending_requests SET retry_count = CASE WHEN id = ANY ($1) THEN 60 ELSE 0 END, last_retry_at = now()',
    [retried],
  )
}

interface Shown {
  id: string
  waiting_for: string
  blockers: { code: string }[]
}

/** The requests as a list shows them. */
async function itemsOf(ids: readonly string[]): Promise<Shown[]> {
  const items = await listItems({ db: asDispatcher, keys, viewer: ADMIN }, 'pending', ids)
  return JSON.parse(JSON.stringify([...items.values()]))
}

test('the next round starts exactly the requests that are shown without a blocker', async () => {
  const seen = new Set<string>()
  for (let world = 0; world < roundsOf(4, 40); world += 1) {
    await clear(database)
    await addInstance(database, 9)
    await database.query('UPDATE instances SET draining = $1', [random(2) === 0])
    for (let n = 0; n < 6; n += 1) await deploy(someTargets(), options()).catch(() => {})
    await database.query('UPDATE instances SET draining = true')
    for (let n = 0; n < 10; n += 1) await deploy(someTargets(), options()).catch(() => {})
    for (let change = 0; change < 8; change += 1) {
      await changeFacts()
      const ids = await pendingIds()
      const items = await itemsOf(ids)
      const shown = new Map(items.map(({ id, blockers }) => [id, blockers.map(({ code }) => code)]))
      const { snapshot, requests } = await readRound(asDispatcher, { arrivals: [], heldOrphans: [] })
      const started = admit(snapshot, requests, snapshot.now).filter(({ is }) => is === 'start')
      expect(ids.filter((id) => shown.get(id)?.length === 0)).toEqual(started.map(({ request }) => request.id).sort())
      for (const { waiting_for, blockers } of items) {
        expect(waiting_for).toBe(blockers[0]?.code ?? 'capacity')
        for (const { code } of blockers) seen.add(code)
      }
      // Asked alone, a request has the same blockers.
      for (const id of ids.slice(0, 2)) {
        const [alone] = await itemsOf([id])
        expect(alone?.blockers.map(({ code }) => code)).toEqual(shown.get(id))
      }
      if (random(2) === 0) await deploy(someTargets(), options()).catch(() => {})
      if (random(3) === 0) await dispatchAll()
    }
  }
  expect([...seen].sort()).toEqual([
    ...['capacity', 'freeze', 'instance_pool', 'no_compatible_instance', 'target_lock', 'tenant_limit'],
  ])
  await applySettings(database, queue)
})
