import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { ProbeRequest, ProbeResponse } from '@slipway/contracts'
import { uuidv7 } from '@slipway/runtime'
import { tellOnce } from '../src/targets/fading.ts'
import { probeBy, startProbing } from '../src/targets/probing.ts'
import { type FakeInstance, startInstance, until } from './fake-instance.ts'
import { type BridgeWithDatabase, enrolInstance, keys, startBridgeWithDatabase } from './setup.ts'

const SECONDS = 60

let bridge: BridgeWithDatabase

beforeAll(async () => {
  bridge = await startBridgeWithDatabase()
})
afterAll(() => bridge?.close())

beforeEach(() => bridge.database.query('TRUNCATE targets, target_facts, outbox CASCADE'))

interface Prober {
  id: string
  fake: FakeInstance
  /** Why it does not reach a target; null where it does. */
  problem: (id: string) => string | null
  asked: ProbeRequest['targets']
}

const open: Prober[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map(({ fake }) => fake.close()))
  await bridge.database.query('UPDATE instances SET last_heartbeat_at = NULL')
})

async function prober(): Promise<Prober> {
  const fake = await startInstance()
  const { id } = await enrolInstance(bridge, { base_url: fake.url })
  const made: Prober = { id, fake, problem: () => null, asked: [] }
  fake.before = () => {
    const targets: ProbeRequest['targets'] = fake.calls.at(-1)?.body.targets ?? []
    made.asked.push(...targets)
    const results = targets.map(({ id }) => {
      const problem = made.problem(id)
      return { id, problem, host_key: problem === null ? 'ssh-ed25519 AAAA' : null }
    })
    fake.answer = { status: 200, body: { results } satisfies ProbeResponse }
  }
  open.push(made)
  return made
}

async function addTarget(connection: object = { type: 'ssh', host: 'h', port: 2222, username: 'u' }, enabled = true) {
  const id = uuidv7()
  const sealed = keys.seal(JSON.stringify({ password: 'p4ss' }), `target:${id}:connection`)
  await bridge.database.query(
    'INSERT INTO targets (id, name, connection, connection_secrets, enabled) VALUES ($1::uuid, $1::uuid::text, $2, $3, $4)',
    [id, JSON.stringify(connection), sealed, enabled],
  )
  return id
}

const ask = async ({ id }: Prober, online = [id]) => {
  const { rows } = await bridge.database.query(
    'SELECT id, base_url, callback_token_sealed FROM instances WHERE id = $1',
    [id],
  )
  await probeBy(bridge.bridge, rows[0] as never, { online, intervalSeconds: SECONDS }, new AbortController().signal)
}

interface Facts {
  host_key: string | null
  last_seen_at: Date | null
  probe_by: string | null
  missed_by: string | null
  next: number
}
const factsOf = async (id: string) =>
  (
    await bridge.database.query<Facts & Record<string, unknown>>(
      `SELECT host_key, last_seen_at, probe_by, missed_by, extract(epoch FROM next_probe_at - now())::float8 AS next
       FROM target_facts WHERE target_id = $1`,
      [id],
    )
  ).rows[0]

const told = async () =>
  (
    await bridge.database.query(
      `SELECT body ->> 'target_id' AS id FROM outbox WHERE type = 'target.updated' ORDER BY id`,
    )
  ).rows.map(({ id }) => id)

const makeDue = () =>
  bridge.database.query(`UPDATE target_facts SET next_probe_at = now(), last_seen_at = last_seen_at - interval '60 s'`)

describe('a probe', () => {
  test('is for enabled ssh targets; what was reached is seen, its key pinned, and told', async () => {
    const target = await addTarget()
    await addTarget({ type: 'local' })
    await addTarget({ type: 'ssh', host: 'h', username: 'u' }, false)
    const instance = await prober()
    await ask(instance)
    expect(instance.asked).toEqual([
      { id: target, connection: { type: 'ssh', host: 'h', port: 2222, username: 'u', password: 'p4ss' } },
    ])
    expect(instance.fake.calls[0]).toMatchObject({ path: '/v1/probes', authorization: `Bearer ${'c'.repeat(40)}` })
    expect(await factsOf(target)).toMatchObject({ host_key: 'ssh-ed25519 AAAA', last_seen_at: expect.any(Date) })
    expect(await told()).toEqual([target])

    // Not again before the interval is over, give or take a tenth, and then with the key.
    const next = (await factsOf(target))?.next
    expect(next).toBeGreaterThan(0.85 * SECONDS)
    expect(next).toBeLessThan(1.1 * SECONDS)
    await ask(instance)
    expect(instance.asked).toHaveLength(1)
    await makeDue()
    await ask(instance)
    expect(instance.asked[1]?.connection).toMatchObject({ host_key: 'ssh-ed25519 AAAA' })
    expect(await told()).toEqual([target])
  })

  test('passes over a target that a run has just reached', async () => {
    const target = await addTarget()
    await bridge.database.query('INSERT INTO target_facts (target_id, last_seen_at) VALUES ($1, now())', [target])
    const instance = await prober()
    await ask(instance)
    expect(instance.asked).toEqual([])
  })

  test('comes by two instances at once to each target once, a hundred at a time', async () => {
    await Promise.all(Array.from({ length: 250 }, () => addTarget()))
    const instances = [await prober(), await prober()]
    for (let round = 0; round < 3; round += 1) {
      await Promise.all(
        instances.map((instance) =>
          ask(
            instance,
            instances.map(({ id }) => id),
          ),
        ),
      )
    }
    const asked = instances.flatMap((instance) => instance.asked.map(({ id }) => id))
    expect([asked.length, new Set(asked).size]).toEqual([250, 250])
    for (const { fake } of instances) {
      for (const { body } of fake.calls) expect(body.targets.length).toBeLessThanOrEqual(100)
    }
  })

  test('that misses is made again soon, by another instance, and the one that reaches it stays with it', async () => {
    const target = await addTarget()
    const [near, far] = [await prober(), await prober()]
    const online = [near.id, far.id]
    far.problem = () => 'no answer from h:2222'
    await ask(far, online)
    expect(await factsOf(target)).toMatchObject({ last_seen_at: null, missed_by: far.id })
    expect((await factsOf(target))?.next).toBeLessThan(11)
    await makeDue()
    await ask(far, online)
    expect(far.asked).toHaveLength(1)
    await ask(near, online)
    expect(await factsOf(target)).toMatchObject({ missed_by: null, probe_by: near.id, last_seen_at: expect.any(Date) })
    await makeDue()
    await ask(far, online)
    expect(far.asked).toHaveLength(1)
    // When that one is gone, others are asked again.
    await ask(far, [far.id])
    expect(far.asked).toHaveLength(2)
  })

  test('of a target that nobody reaches goes on at the interval', async () => {
    const target = await addTarget()
    const instance = await prober()
    instance.problem = () => 'connection refused by h:2222'
    await ask(instance)
    await makeDue()
    await ask(instance)
    expect(instance.asked).toHaveLength(2)
    expect((await factsOf(target))?.next).toBeGreaterThan(0.85 * SECONDS)
    expect(await told()).toEqual([])
  })

  test('says nothing of a target whose connection was changed meanwhile', async () => {
    const target = await addTarget()
    const gone = await addTarget()
    const instance = await prober()
    const answer = instance.fake.before
    instance.fake.before = async () => {
      await answer()
      await bridge.database.query(`UPDATE targets SET connection = '{"type":"ssh","host":"other"}' WHERE id = $1`, [
        target,
      ])
      await bridge.database.query('DELETE FROM target_facts WHERE target_id IN ($1, $2)', [target, gone])
      await bridge.database.query('DELETE FROM targets WHERE id = $1', [gone])
    }
    await ask(instance)
    expect(instance.asked).toHaveLength(2)
    expect([await factsOf(target), await factsOf(gone)]).toEqual([undefined, undefined])
  })

  test.each<[string, (id: string) => unknown, RegExp]>([
    ['names another target', () => ({ results: [{ id: uuidv7(), problem: null, host_key: null }] }), /not asked for/],
    [
      'names a target twice',
      (id) => ({ results: [1, 2].map(() => ({ id, problem: null, host_key: null })) }),
      /not asked for/,
    ],
    ['is no answer', () => ({ results: [{ id: 'x', problem: 7 }] }), /answer to probes is wrong/],
    ['never ends', () => ({ results: [], more: 'x'.repeat(5 * 1024 * 1024) }), /longer than 4194304 bytes/],
  ])('whose answer %s changes nothing', async (_what, body, reason) => {
    const target = await addTarget()
    const instance = await prober()
    instance.fake.before = () => {
      instance.fake.answer = { status: 200, body: body(target) }
    }
    await expect(ask(instance)).rejects.toThrow(reason)
    expect(await factsOf(target)).toMatchObject({ last_seen_at: null, host_key: null })
  })
})

test('all instances that are online are asked, again and again, and no others', async () => {
  const targets = await Promise.all(Array.from({ length: 3 }, () => addTarget()))
  const [online, offline] = [await prober(), await prober()]
  await bridge.database.query(`UPDATE instances SET last_heartbeat_at = now() - interval '31 s' WHERE id = $1`, [
    offline.id,
  ])
  const probing = startProbing(bridge.bridge, SECONDS)
  await until(() => online.asked.length === 3, 'the first round')
  // Those whose first results come only now are due no more, so they are made so again.
  await until(async () => {
    await makeDue()
    return online.asked.length >= 6
  }, 'the second round')
  await probing.stop()
  expect(new Set(online.asked.map(({ id }) => id))).toEqual(new Set(targets))
  expect(offline.asked).toEqual([])
})

test('a target that nothing reaches any more is told to be stale, then offline, each once', async () => {
  const [ssh, local] = [await addTarget(), await addTarget({ type: 'local' })]
  await bridge.database.query('INSERT INTO target_facts (target_id, last_seen_at) SELECT unnest($1::uuid[]), now()', [
    [ssh, local],
  ])
  const after = async (age: string) => {
    await bridge.database.query('UPDATE target_facts SET last_seen_at = now() - $1::interval', [age])
    await tellOnce(bridge.bridge)
    await tellOnce(bridge.bridge)
    return told()
  }
  expect(await after('1 s')).toEqual([])
  expect(await after('91 s')).toEqual([ssh])
  expect(await after('599 s')).toEqual([ssh])
  expect(await after('601 s')).toEqual([ssh, ssh])
  // That it is back is told by whoever has reached it.
  expect(await after('1 s')).toEqual([ssh, ssh])
  expect(await after('91 s')).toEqual([ssh, ssh, ssh])
})
