import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { MAX_PROBED_TARGETS, type ProbeResult, type ProbeTarget } from '@slipway/contracts'
import { uuidv7 } from '@slipway/runtime'
import { tellOnce } from '../src/targets/fading.ts'
import {
  type BridgeWithDatabase,
  endLease,
  type Joined,
  joinInstance,
  keys,
  postSync,
  PROBE_SECONDS as SECONDS,
  seedRun,
  startBridgeWithDatabase,
} from './setup.ts'

let bridge: BridgeWithDatabase

beforeAll(async () => {
  bridge = await startBridgeWithDatabase()
})
afterAll(() => bridge?.close())

beforeEach(() => bridge.database.query('TRUNCATE targets, target_facts, outbox CASCADE'))
afterEach(() => bridge.database.query('UPDATE instances SET last_heartbeat_at = NULL'))

interface Prober extends Joined {
  /** Why it does not reach a target; null where it does. */
  problem: (id: string) => string | null
  asked: ProbeTarget[]
}

const prober = async (): Promise<Prober> => ({ ...(await joinInstance(bridge)), problem: () => null, asked: [] })

async function addTarget(connection: object = { type: 'ssh', host: 'h', port: 2222, username: 'u' }, enabled = true) {
  const id = uuidv7()
  const sealed = keys.seal(JSON.stringify({ password: 'p4ss' }), `target:${id}:connection`)
  await bridge.database.query(
    'INSERT INTO targets (id, name, connection, connection_secrets, enabled) VALUES ($1::uuid, $1::uuid::text, $2, $3, $4)',
    [id, JSON.stringify(connection), sealed, enabled],
  )
  return id
}

/** A sync of an instance that can take probes: what it is asked. */
const sync = async (instance: Joined, probes: ProbeResult[] = []): Promise<ProbeTarget[]> => {
  const { status, body } = await postSync(bridge, instance, { probe_slots: MAX_PROBED_TARGETS, probes })
  expect(status).toBe(200)
  return body.probes
}

const resultOf = ({ id, host, port }: ProbeTarget, problem: string | null = null): ProbeResult => {
  return { id, host, port, problem, host_key: problem === null ? 'ssh-ed25519 AAAA' : null }
}

/** Has the instance probe what is due, and report what it found. */
const ask = async (instance: Prober) => {
  const targets = await sync(instance)
  instance.asked.push(...targets)
  const probes = targets.map((target) => resultOf(target, instance.problem(target.id)))
  await postSync(bridge, instance, { probes })
}

const setOffline = ({ id }: Joined) =>
  bridge.database.query(`UPDATE instances SET last_heartbeat_at = now() - interval '31 s' WHERE id = $1`, [id])

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
    expect(instance.asked).toEqual([{ id: target, host: 'h', port: 2222 }])
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
    expect(instance.asked[1]).toMatchObject({ host_key: 'ssh-ed25519 AAAA' })
    expect(await told()).toEqual([target])
  })

  test('passes over a target that a run has just reached', async () => {
    const target = await addTarget()
    await bridge.database.query('INSERT INTO target_facts (target_id, last_seen_at) VALUES ($1, now())', [target])
    const instance = await prober()
    await ask(instance)
    expect(instance.asked).toEqual([])
  })

  test('carries a login only for an instance that held a lease for the target within the last day', async () => {
    const [holder, other] = [await prober(), await prober()]
    const run = await seedRun(bridge.database, { instanceId: holder.id, targets: 1 })
    const [target] = run.targetIds as [string]
    const sealed = keys.seal(JSON.stringify({ password: 'p4ss' }), `target:${target}:connection`)
    const connection = JSON.stringify({ type: 'ssh', host: 'h', port: 2222, username: 'u' })
    await bridge.database.query('UPDATE targets SET connection = $2, connection_secrets = $3 WHERE id = $1', [
      ...[target, connection, sealed],
    ])
    await endLease(bridge.database, run.epoch)
    const place = { id: target, host: 'h', port: 2222 }
    expect(await sync(holder)).toEqual([{ ...place, login: { username: 'u', password: 'p4ss' } }])
    await makeDue()
    expect(await sync(other)).toEqual([place])
    await bridge.database.query(`UPDATE leases SET ended_at = now() - interval '25 hours'`)
    await makeDue()
    expect(await sync(holder)).toEqual([place])
  })

  test('comes by two instances at once to each target once, and as many at a time as the instance can take', async () => {
    await Promise.all(Array.from({ length: 25 }, () => addTarget()))
    const instances = [await prober(), await prober()]
    const asked = await Promise.all(
      [0, 1, 0, 1].map(async (index) => {
        const { body } = await postSync(bridge, instances[index] as Prober, { probe_slots: 7 })
        expect(body.probes.length).toBeLessThanOrEqual(7)
        return body.probes.map(({ id }: ProbeTarget) => id)
      }),
    )
    const ids = [...asked.flat(), ...(await sync(instances[0] as Prober)).map(({ id }) => id)]
    expect([ids.length, new Set(ids).size]).toEqual([25, 25])
  })

  test('that misses is made again soon, by another instance, and the one that reaches it stays with it', async () => {
    const target = await addTarget()
    const [near, far] = [await prober(), await prober()]
    far.problem = () => 'no answer from h:2222'
    await ask(far)
    expect(await factsOf(target)).toMatchObject({ last_seen_at: null, missed_by: far.id })
    expect((await factsOf(target))?.next).toBeLessThan(11)
    await makeDue()
    await ask(far)
    expect(far.asked).toHaveLength(1)
    await ask(near)
    expect(await factsOf(target)).toMatchObject({ missed_by: null, probe_by: near.id, last_seen_at: expect.any(Date) })
    await makeDue()
    await ask(far)
    expect(far.asked).toHaveLength(1)
    // When that one is gone, others are asked again.
    await setOffline(near)
    await ask(far)
    expect(far.asked).toHaveLength(2)
  })

  test('comes only from instances that match the selectors of the target, its environment and its tenant', async () => {
    const [zoneA, zoneB] = [await prober(), await prober()]
    const label = (instance: Joined, value: string) =>
      bridge.database.query('UPDATE instances SET labels = $2 WHERE id = $1', [instance.id, { zone: value }])
    await label(zoneA, 'a')
    await label(zoneB, 'b')
    const selector = { match_labels: { zone: 'a' } }
    const environment = uuidv7()
    await bridge.database.query(
      'INSERT INTO environments (id, name, instance_selector) VALUES ($1::uuid, $1::uuid::text, $2)',
      [environment, selector],
    )
    const [own, placed] = [await addTarget(), await addTarget()]
    await bridge.database.query('UPDATE targets SET instance_selector = $2 WHERE id = $1', [own, selector])
    await bridge.database.query('UPDATE targets SET environment_id = $2 WHERE id = $1', [placed, environment])
    expect(await sync(zoneB)).toEqual([])
    // It is the only one that may: a miss does not end its probes.
    zoneA.problem = () => 'no answer'
    await ask(zoneA)
    expect(zoneA.asked.map(({ id }) => id).sort()).toEqual([own, placed].sort())
    await makeDue()
    expect(await sync(zoneB)).toEqual([])
    await ask(zoneA)
    expect(zoneA.asked).toHaveLength(4)
    // Its labels go to the other one, which takes over although this one is online.
    await label(zoneA, 'b')
    await label(zoneB, 'a')
    await makeDue()
    expect(await sync(zoneA)).toEqual([])
    expect(await sync(zoneB)).toHaveLength(2)
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

  test('that fails tells why and since when, in plain bounded text, until the target is reached', async () => {
    const target = await addTarget()
    const instance = await prober()
    const errors = async () =>
      (
        await bridge.database.query<{ last_error: string; failing_since: Date; failing: boolean }>(
          `SELECT last_error, failing_since, failing_since > coalesce(last_seen_at, '-infinity') AS failing
             FROM target_facts WHERE target_id = $1`,
          [target],
        )
      ).rows[0]
    instance.problem = () => 'connection refused\n\u001b[31mby h:2222'
    await ask(instance)
    const first = await errors()
    expect(first).toMatchObject({ last_error: 'connection refused [31mby h:2222', failing: true })
    await makeDue()
    instance.problem = () => `no answer ${'x'.repeat(1_000)}`
    await ask(instance)
    const second = await errors()
    expect(second).toMatchObject({ failing_since: first?.failing_since, failing: true })
    expect(second?.last_error).toMatch(/^no answer x{490}$/)

    await makeDue()
    instance.problem = () => null
    await ask(instance)
    expect(await errors()).toMatchObject({ failing: false })
    // The next failures begin a new time.
    await bridge.database.query(`UPDATE target_facts SET failing_since = failing_since - interval '1 hour'`)
    await makeDue()
    instance.problem = () => 'no answer from h:2222'
    await ask(instance)
    expect((await errors())?.failing_since.getTime()).toBeGreaterThanOrEqual(first?.failing_since.getTime() ?? Infinity)
  })

  test('says nothing of a target whose address was changed meanwhile, or that is gone', async () => {
    const [target, gone] = [await addTarget(), await addTarget()]
    const instance = await prober()
    const asked = await sync(instance)
    expect(asked).toHaveLength(2)
    await bridge.database.query(`UPDATE targets SET connection = '{"type":"ssh","host":"other"}' WHERE id = $1`, [
      target,
    ])
    await bridge.database.query('DELETE FROM targets WHERE id = $1', [gone])
    await sync(
      instance,
      asked.map((each) => resultOf(each)),
    )
    for (const id of [target, gone]) expect((await factsOf(id))?.last_seen_at ?? null).toBeNull()
  })

  test('counts only from the instance that was asked, and once', async () => {
    const target = await addTarget()
    const [instance, stranger] = [await prober(), await prober()]
    const [asked] = (await sync(instance)) as [ProbeTarget]
    await sync(stranger, [resultOf(asked)])
    expect(await factsOf(target)).toMatchObject({ last_seen_at: null, host_key: null })
    await sync(instance, [resultOf(asked), resultOf({ ...asked, id: uuidv7() })])
    expect(await factsOf(target)).toMatchObject({ host_key: 'ssh-ed25519 AAAA' })
    await bridge.database.query('UPDATE target_facts SET host_key = NULL, last_seen_at = NULL')
    await sync(instance, [resultOf(asked)])
    expect(await factsOf(target)).toMatchObject({ last_seen_at: null, host_key: null })
  })
})

test('a target that cannot be told of does not keep the others', async () => {
  const [bad, good] = [await addTarget(), await addTarget()]
  await bridge.database.query(
    `INSERT INTO target_facts (target_id, last_seen_at, told_status) SELECT unnest($1::uuid[]), now() - interval '91 s', 'online'`,
    [[bad, good]],
  )
  await bridge.database.query(
    `CREATE FUNCTION poison() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'poisoned'; END $$`,
  )
  await bridge.database.query(
    `CREATE TRIGGER poison BEFORE UPDATE ON target_facts FOR EACH ROW WHEN (OLD.target_id = '${bad}') EXECUTE FUNCTION poison()`,
  )
  const quiet = { ...bridge.bridge, logger: { ...bridge.bridge.logger, error: () => {} } }
  await tellOnce(quiet)
  expect(await told()).toEqual([good])
  await bridge.database.query('DROP FUNCTION poison() CASCADE')
  await tellOnce(quiet)
  expect((await told()).sort()).toEqual([bad, good].sort())
})

test('a target whose secrets cannot be read keeps nothing else from the instance', async () => {
  const [bad, good] = [await addTarget(), await addTarget()]
  const unreadable = keys.seal('no JSON', `target:${bad}:connection`)
  await bridge.database.query('UPDATE targets SET connection_secrets = $2 WHERE id = $1', [bad, unreadable])
  const instance = await prober()
  // An instance gets the login of a target of which it had a run within the last day.
  const run = await seedRun(bridge.database, { instanceId: instance.id })
  await bridge.database.query(
    `INSERT INTO deployment_targets (deployment_id, target_index, target_id, target_name, variables) VALUES ($1, 9, $2, '', '{}')`,
    [run.deploymentId, bad],
  )
  await endLease(bridge.database, run.epoch)
  expect((await sync(instance)).map(({ id }) => id)).toEqual([good])
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
