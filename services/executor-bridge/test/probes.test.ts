import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { MAX_PROBED_TARGETS, type ProbeResult, type ProbeTarget } from '@slipway/contracts'
import { uuidv7 } from '@slipway/runtime'
import { publishStatusChanges } from '../src/targets/status-changes.ts'
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

beforeEach(() => bridge.database.query('DELETE FROM target_facts; DELETE FROM targets; DELETE FROM outbox'))
afterEach(() => bridge.database.query('UPDATE instances SET last_heartbeat_at = NULL'))

interface Prober extends Joined {
  /** Why the instance does not reach a target. Null if it does. */
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

/** Sends a sync of an instance that accepts probes. Returns the targets to probe. */
const sync = async (instance: Joined, probes: ProbeResult[] = []): Promise<ProbeTarget[]> => {
  const { status, body } = await postSync(bridge, instance, { probe_slots: MAX_PROBED_TARGETS, probes })
  expect(status).toBe(200)
  return body.probes
}

const resultOf = ({ id, host, port }: ProbeTarget, problem: string | null = null): ProbeResult => {
  return { id, host, port, problem, host_key: problem === null ? 'ssh-ed25519 AAAA' : null }
}

/** Makes the instance probe the due targets and report the results. */
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
  test('is for enabled ssh targets; a reached target is online, its host key pinned, and an event published', async () => {
    const target = await addTarget()
    await addTarget({ type: 'local' })
    await addTarget({ type: 'ssh', host: 'h', username: 'u' }, false)
    const instance = await prober()
    await ask(instance)
    expect(instance.asked).toEqual([{ id: target, host: 'h', port: 2222 }])
    expect(await factsOf(target)).toMatchObject({ host_key: 'ssh-ed25519 AAAA', last_seen_at: expect.any(Date) })
    expect(await told()).toEqual([target])

    // The next probe comes after the interval, plus or minus 10 %, and has the host key.
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

  test('skips a target that a run has just reached', async () => {
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

  test('of each target is given to one of two instances, and each instance gets at most as many as it accepts', async () => {
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

  test('that fails is soon repeated by another instance, and the instance that reaches the target keeps its probes', async () => {
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
    // When that instance is offline, other instances get the probe again.
    await setOffline(near)
    await ask(far)
    expect(far.asked).toHaveLength(2)
  })

  test('is given only to instances that match the selectors of the target and of its environment', async () => {
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
    // No other instance matches, so a failed probe does not end the probes of this one.
    zoneA.problem = () => 'no answer'
    await ask(zoneA)
    expect(zoneA.asked.map(({ id }) => id).sort()).toEqual([own, placed].sort())
    await makeDue()
    expect(await sync(zoneB)).toEqual([])
    await ask(zoneA)
    expect(zoneA.asked).toHaveLength(4)
    // The instances swap their labels. The other one takes over although this one is online.
    await label(zoneA, 'b')
    await label(zoneB, 'a')
    await makeDue()
    expect(await sync(zoneA)).toEqual([])
    expect(await sync(zoneB)).toHaveLength(2)
  })

  test('is given to an instance of one tenant only for targets of that tenant and shared ones, and pins no key of a shared one', async () => {
    const { database } = bridge
    const [a, b] = [uuidv7(), uuidv7()]
    await database.query(
      'INSERT INTO tenants (id, name, slug) SELECT id::uuid, id, id FROM unnest($1::text[]) AS t (id)',
      [[a, b]],
    )
    const [ofA, ofB, shared] = [await addTarget(), await addTarget(), await addTarget()]
    await database.query(
      'UPDATE targets SET tenant_id = CASE id WHEN $1 THEN $3::uuid ELSE $4::uuid END WHERE id IN ($1, $2)',
      [...[ofA, ofB, a, b]],
    )
    const [bound, free] = [await prober(), await prober()]
    await database.query('UPDATE instances SET tenant_id = $2 WHERE id = $1', [bound.id, a])
    bound.problem = (id) => (id === shared ? 'no answer' : null)
    await ask(bound)
    expect(bound.asked.map(({ id }) => id).sort()).toEqual([ofA, shared].sort())
    expect(await factsOf(ofA)).toMatchObject({ host_key: 'ssh-ed25519 AAAA' })
    // The other instance takes over the shared target, and the target of the other tenant is for it alone.
    await makeDue()
    expect((await sync(free)).map(({ id }) => id)).toEqual(expect.arrayContaining([ofB, shared]))
    bound.problem = () => null
    await database.query('UPDATE target_facts SET missed_by = NULL, probe_by = NULL, asked_of = NULL')
    await makeDue()
    await ask(bound)
    expect(await factsOf(shared)).toMatchObject({ host_key: null, last_seen_at: expect.any(Date) })
    await makeDue()
    await ask(free)
    expect(await factsOf(shared)).toMatchObject({ host_key: 'ssh-ed25519 AAAA' })
  })

  test('has no effect from an instance that may no longer serve the tenant of its target', async () => {
    const [tenant, target] = [uuidv7(), await addTarget()]
    await bridge.database.query('INSERT INTO tenants (id, name, slug) VALUES ($1::uuid, $1, $1)', [tenant])
    await bridge.database.query('UPDATE targets SET tenant_id = $2 WHERE id = $1', [target, tenant])
    const instance = await prober()
    const [asked] = (await sync(instance)) as [ProbeTarget]
    await bridge.database.query('UPDATE instances SET tenant_id = $2 WHERE id = $1', [instance.id, uuidv7()])
    await sync(instance, [resultOf(asked)])
    await sync(instance, [resultOf(asked, 'forged')])
    expect(await factsOf(target)).toMatchObject({ host_key: null, last_seen_at: null, missed_by: null })
  })

  test('of a target that no instance reaches is repeated at the interval', async () => {
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

  test('that fails stores the reason as bounded plain text and the begin of the failures, until one succeeds', async () => {
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
    // The next failure begins a new period.
    await bridge.database.query(`UPDATE target_facts SET failing_since = failing_since - interval '1 hour'`)
    await makeDue()
    instance.problem = () => 'no answer from h:2222'
    await ask(instance)
    expect((await errors())?.failing_since.getTime()).toBeGreaterThanOrEqual(first?.failing_since.getTime() ?? Infinity)
  })

  test('is ignored if the address of its target was changed meanwhile, or the target was deleted', async () => {
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

  test('is accepted only from the instance that got it, and once', async () => {
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

test('a target whose status cannot be published does not stop the other ones', async () => {
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
  await publishStatusChanges(quiet)
  expect(await told()).toEqual([good])
  await bridge.database.query('DROP FUNCTION poison() CASCADE')
  await publishStatusChanges(quiet)
  expect((await told()).sort()).toEqual([bad, good].sort())
})

test('a target with secrets that cannot be opened does not stop the probes of other targets', async () => {
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

test('a target that is not reached any more is published as stale and as offline, each once', async () => {
  const [ssh, local] = [await addTarget(), await addTarget({ type: 'local' })]
  await bridge.database.query('INSERT INTO target_facts (target_id, last_seen_at) SELECT unnest($1::uuid[]), now()', [
    [ssh, local],
  ])
  const after = async (age: string) => {
    await bridge.database.query('UPDATE target_facts SET last_seen_at = now() - $1::interval', [age])
    await publishStatusChanges(bridge.bridge)
    await publishStatusChanges(bridge.bridge)
    return told()
  }
  expect(await after('1 s')).toEqual([])
  expect(await after('91 s')).toEqual([ssh])
  expect(await after('599 s')).toEqual([ssh])
  expect(await after('601 s')).toEqual([ssh, ssh])
  // The probe or run that reaches the target publishes that it is online again.
  expect(await after('1 s')).toEqual([ssh, ssh])
  expect(await after('91 s')).toEqual([ssh, ssh, ssh])
})
