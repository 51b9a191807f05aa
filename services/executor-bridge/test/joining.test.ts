import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { randomToken, SLIPWAY_VERSION, uuidv7 } from '@slipway/runtime'
import { OTHER_VERSIONS, waitFor } from '@slipway/testing'
import { removeInstance } from '../src/instances/administer.ts'
import type { PodIdentity } from '../src/kubernetes/service-accounts.ts'
import { labelBeyond, parseAllowedLabels } from '../src/labels.ts'
import {
  addGrant,
  type BridgeWithDatabase,
  endLease,
  type Joined,
  joinBody,
  joinInstance,
  post,
  postJoin,
  postSync,
  seedRun,
  startBridgeWithDatabase,
  type TestGrant,
} from './setup.ts'

let bridge: BridgeWithDatabase

beforeAll(async () => {
  bridge = await startBridgeWithDatabase()
})
afterAll(() => bridge?.close())

const grant = (options?: TestGrant) => addGrant(bridge.database, options)
const joinWith = (token: string | undefined, fields: Record<string, unknown> = {}) =>
  postJoin(bridge, token, joinBody(fields))
const usedOf = async (token = '') =>
  (
    await bridge.database.query<{ used: number }>('SELECT used FROM instance_grants WHERE id::text = $1', [
      token.split('.')[0],
    ])
  ).rows[0]?.used
const rowOf = async (id: string) => (await bridge.database.query('SELECT * FROM instances WHERE id = $1', [id])).rows[0]
const named = async (name: string) =>
  (await bridge.database.query('SELECT id FROM instances WHERE name = $1', [name])).rows
const auditOf = async (name: string) =>
  (
    await bridge.database.query(
      `SELECT actor_name, actor_ip, resource_id, details FROM audit_records
        WHERE action = 'instance.join' AND details ->> 'name' = $1 ORDER BY number`,
      [name],
    )
  ).rows
const caller = { user_id: uuidv7(), username: 'admin', tenant_id: null, may_override_freezes: true, ip: '127.0.0.1' }
const remove = (instance_id: string) =>
  removeInstance(
    bridge.database,
    { instance_id, caller, force: true },
    { command_id: uuidv7(), deadline: new Date(Date.now() + 8_000).toISOString(), request_id: null },
  )

describe('a join', () => {
  test('gives a credential and slots, publishes the instance, and stores no secret in clear text', async () => {
    const token = await grant({ labels: { pool: 'eu' } })
    const name = 'first'
    const { status, body } = await joinWith(token, { name, capacity: 2, labels: { pool: 'eu' } })
    expect([status, body]).toEqual([
      201,
      { instance_id: expect.any(String), credential: expect.any(String), lost_after_seconds: 30 },
    ])
    const id = body.instance_id
    const row = await rowOf(id)
    expect(row).toMatchObject({ name, labels: { pool: 'eu' }, allowed_labels: { pool: 'eu' }, tenant_id: null })
    expect(JSON.stringify(row)).not.toContain(body.credential.split('.')[1])
    const slots = await bridge.database.query('SELECT slot FROM instance_slots WHERE instance_id = $1', [id])
    expect(slots.rows.map(({ slot }) => slot)).toEqual([0, 1])
    const events = await bridge.database.query(`SELECT type FROM outbox WHERE body->>'instance_id' = $1`, [id])
    expect(events.rows).toEqual([{ type: 'instance.created' }])
    expect(await usedOf(token)).toBe(1)
    expect(await auditOf(name)).toMatchObject([
      {
        actor_name: `join token ${token.split('.')[0]}`,
        actor_ip: expect.stringContaining('127.0.0.1'),
        resource_id: id,
      },
    ])
  })

  test('makes an instance without a heartbeat until its first sync', async () => {
    const { body } = await joinWith(await grant())
    expect(await rowOf(body.instance_id)).toMatchObject({ last_heartbeat_at: null })
    expect((await postSync(bridge, body)).status).toBe(200)
    expect((await rowOf(body.instance_id))?.['last_heartbeat_at']).toBeInstanceOf(Date)
  })

  test('accepts another patch version of the same minor version', async () => {
    expect((await joinWith(await grant(), { version: `${OTHER_VERSIONS.patch}-rc.1` })).status).toBe(201)
  })

  test('with a grant of a tenant makes an instance of that tenant, and its events are for that tenant', async () => {
    const tenant_id = uuidv7()
    await bridge.database.query('INSERT INTO tenants (id, name, slug) VALUES ($1, $1::uuid::text, $1::uuid::text)', [
      tenant_id,
    ])
    const { body } = await joinWith(await grant({ tenant_id }))
    expect(await rowOf(body.instance_id)).toMatchObject({ tenant_id })
    const events = await bridge.database.query(`SELECT body FROM outbox WHERE body->>'instance_id' = $1`, [
      body.instance_id,
    ])
    expect(events.rows).toMatchObject([{ body: { tenant_id } }])
  })
})

describe('a join is refused, uses up no token and leaves an audit record:', () => {
  const refused = async (token: string | undefined, fields: Record<string, unknown> = {}) => {
    const name = `refused-${randomToken(6)}`
    const before = await usedOf(token)
    const { status, body } = await joinWith(token, { name, ...fields })
    expect(await usedOf(token)).toBe(before)
    expect(await named(name)).toEqual([])
    return `${status} ${body.error.message}`
  }

  test('without a token, with an invalid text, with the secret of another token, and with a revoked token', async () => {
    const [one, other] = [await grant(), await grant()]
    const mixed = `${one.split('.')[0]}.${other.split('.')[1]}`
    const revoked = await grant()
    await bridge.database.query('DELETE FROM instance_grants WHERE id = $1', [revoked.split('.')[0]])
    for (const token of [undefined, 'wrong', `${one}x`, mixed, revoked]) {
      expect(await refused(token)).toMatch(/^401 .*slipway join-tokens create/)
    }
  })

  test('with a token that has expired', async () => {
    expect(await refused(await grant({ expires_in_seconds: -1 }))).toMatch(/^401 .*expired.*slipway join-tokens create/)
  })

  test('with a token that is used up', async () => {
    const token = await grant()
    expect((await joinWith(token)).status).toBe(201)
    expect(await refused(token)).toMatch(/^401 .*used up.*slipway join-tokens create/)
  })

  test.each([OTHER_VERSIONS.minor, OTHER_VERSIONS.major, 'one'])(
    'as version %s, and the message names both versions',
    async (version) => {
      const token = await grant()
      const message = await refused(token, { version })
      expect(message).toMatch(/^409 /)
      expect(message).toContain(`version ${version}, Slipway has ${SLIPWAY_VERSION}`)
      expect((await joinWith(token)).status).toBe(201)
    },
  )

  test('with a label that the grant does not allow', async () => {
    const token = await grant({ labels: { pool: 'eu', zone: null } })
    for (const labels of [{ pool: 'us' }, { site: 'x' }, { pool: 'eu', zone: 'a', site: 'x' }, { toString: 'x' }]) {
      expect(await refused(token, { labels })).toMatch(/^403 .*claims the label .*allows pool=eu, zone \(any value\)/)
    }
    expect((await joinWith(token, { labels: { pool: 'eu', zone: 'b' } })).status).toBe(201)
  })

  test('with a body that is not valid', async () => {
    const { status, body } = await joinWith(await grant(), { capacity: 0 })
    expect([status, body.error.details.errors[0].path]).toEqual([400, '/capacity'])
  })

  test('with a record that has the reason and not the token', async () => {
    const token = await grant()
    await joinWith(token, { name: 'old-release', version: OTHER_VERSIONS.major })
    const records = await auditOf('old-release')
    expect(records).toMatchObject([
      {
        actor_name: `join token ${token.split('.')[0]}`,
        resource_id: null,
        details: { outcome: 'refused', status: 409, code: 'CONFLICT', version: OTHER_VERSIONS.major },
      },
    ])
    expect(JSON.stringify(records)).not.toContain(token.split('.')[1])
  })

  test('with a service account token, if the bridge has no settings for Kubernetes', async () => {
    expect(await refused('eyJh.eyJp.c2ln')).toMatch(/^401 .*SLIPWAY_KUBERNETES_ISSUER/)
  })
})

describe('a token is accepted', () => {
  test('once, if several instances join with it at once', async () => {
    for (let round = 0; round < 5; round += 1) {
      const token = await grant()
      const statuses = (await Promise.all(Array.from({ length: 6 }, () => joinWith(token)))).map(({ status }) => status)
      expect(statuses.sort()).toEqual([201, 401, 401, 401, 401, 401])
      expect(await usedOf(token)).toBe(1)
    }
  })

  test('as often as its grant says, if many instances join with it at once', async () => {
    const token = await grant({ uses: 3 })
    const statuses = (await Promise.all(Array.from({ length: 8 }, () => joinWith(token)))).map(({ status }) => status)
    expect(statuses.filter((status) => status === 201)).toHaveLength(3)
  })

  test('for one instance, if several join under the same name at once', async () => {
    const token = await grant({ uses: 10 })
    const name = 'crowd'
    const answers = await Promise.all(Array.from({ length: 6 }, () => joinWith(token, { name })))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409])
    expect([await usedOf(token), (await named(name)).length]).toEqual([1, 1])
  })
})

describe('a name that exists', () => {
  test('is refused, whether the instance is online or not, and the message says how to release the name', async () => {
    const instance = await joinInstance(bridge, { name: 'taken' })
    const token = await grant({ uses: 5 })
    for (const online of [false, true]) {
      if (online) await postSync(bridge, instance)
      const { status, body } = await joinWith(token, { name: 'taken' })
      expect([status, body.error.code]).toEqual([409, 'CONFLICT'])
      expect(body.error.message).toContain('slipway instances delete taken')
    }
    expect([await usedOf(token), (await postSync(bridge, instance)).status]).toEqual([0, 200])
  })

  test('is refused in another spelling, and one with a control of the writing direction is invalid', async () => {
    const { id } = await joinInstance(bridge, { name: 'Spelled-1' })
    const token = await grant({ uses: 5 })
    for (const name of ['spelled-1', 'SPELLED\u200b-1']) {
      const { status, body } = await joinWith(token, { name })
      expect([status, body.error.message]).toEqual([409, expect.stringContaining('instance named Spelled-1')])
    }
    expect((await joinWith(token, { name: 'spelled\u202e' })).status).toBe(400)
    await remove(id)
    const { body } = await joinWith(token, { name: 'spelled-1' })
    expect(await rowOf(body.instance_id)).toMatchObject({ id, name: 'spelled-1', removed_at: null })
  })

  test('is accepted after its release; former leases must end as lost before the new instance gets runs', async () => {
    const former = await joinInstance(bridge, { name: 'released', capacity: 3 })
    await postSync(bridge, former)
    const run = await seedRun(bridge.database, { instanceId: former.id })
    await remove(former.id)
    const next = await joinInstance(bridge, { name: 'released', capacity: 1, labels: { pool: 'us' } })
    expect(next.id).toBe(former.id)
    expect(await rowOf(next.id)).toMatchObject({ removed_at: null, draining: false, labels: { pool: 'us' } })
    const slots = await bridge.database.query(
      'SELECT slot FROM instance_slots WHERE instance_id = $1 AND NOT retired ORDER BY slot',
      [next.id],
    )
    expect(slots.rows).toEqual([{ slot: 0 }])
    const labels = { pool: 'us' }
    expect(await postSync(bridge, next, { labels })).toMatchObject({
      status: 409,
      body: { error: { code: 'LEASES_LOST', details: { deployments: [run.deploymentId] } } },
    })
    await endLease(bridge.database, run.epoch)
    expect((await postSync(bridge, next, { labels })).status).toBe(200)
    expect((await postSync(bridge, former)).status).toBe(401)
  })
})

describe('a join whose answer was lost', () => {
  const join_key = randomToken()
  const repeated = async (fields: Record<string, unknown>, between?: (instance: Joined) => Promise<unknown>) => {
    const token = await grant()
    const name = `lost-${randomToken(6)}`
    const first = await joinWith(token, { name, join_key })
    await between?.({ id: first.body.instance_id, credential: first.body.credential })
    return { token, first, second: await joinWith(token, { name, join_key, ...fields }) }
  }

  test('can be repeated with its join key, and gives one instance for one use of the token', async () => {
    const { token, first, second } = await repeated({})
    expect([second.status, second.body.instance_id, await usedOf(token)]).toEqual([201, first.body.instance_id, 1])
    expect((await postSync(bridge, { credential: first.body.credential })).status).toBe(401)
    expect((await postSync(bridge, { credential: second.body.credential })).status).toBe(200)
  })

  test('cannot be repeated with the same token and another join key', async () => {
    for (const other of [undefined, randomToken()]) {
      const { first, second } = await repeated({ join_key: other })
      expect(second.status).toBe(401)
      expect((await postSync(bridge, { credential: first.body.credential })).status).toBe(200)
    }
  })

  test('cannot be repeated after its credential was used', async () => {
    const { first, second } = await repeated({}, (instance) => postSync(bridge, instance))
    expect(second.status).toBe(401)
    expect((await postSync(bridge, { credential: first.body.credential })).status).toBe(200)
  })

  test('cannot be repeated with a grant that has expired meanwhile', async () => {
    const { second } = await repeated({}, () =>
      bridge.database.query(`UPDATE instance_grants SET expires_at = now() - interval '1 s'`),
    )
    expect(second.status).toBe(401)
  })
})

describe('pods', () => {
  const pods = new Map<string, PodIdentity>()
  let cluster: BridgeWithDatabase

  beforeAll(async () => {
    cluster = await startBridgeWithDatabase()
    cluster.bridge.serviceAccounts = {
      async identify(token) {
        const identity = pods.get(token)
        if (identity === undefined) throw new Error('not in this test')
        return identity
      },
    }
    cluster.bridge.serviceAccountLabels = { pool: 'eu' }
  })
  afterAll(() => cluster?.close())

  const tokenOf = (pod: string, account = 'slipway/instance') => {
    const token = `a.${randomToken(8)}.c`
    pods.set(token, { account, pod })
    return token
  }
  const joinPod = (token: string, fields: Record<string, unknown>) => postJoin(cluster, token, joinBody(fields))

  test('join with their service account under the name of the pod', async () => {
    const { status, body } = await joinPod(tokenOf('pod-0'), { name: 'pod-0', labels: { pool: 'eu' } })
    expect(status).toBe(201)
    const { rows } = await cluster.database.query('SELECT * FROM instances WHERE id = $1', [body.instance_id])
    expect(rows).toMatchObject([
      { service_account: 'slipway/instance', grant_id: null, allowed_labels: { pool: 'eu' } },
    ])
  })

  test('cannot join under another name, or with labels that the setting does not allow', async () => {
    expect((await joinPod(tokenOf('pod-1'), { name: 'pod-2' })).body.error.message).toContain('SLIPWAY_INSTANCE_NAME')
    const beyond = await joinPod(tokenOf('pod-1'), { name: 'pod-1', labels: { pool: 'us' } })
    expect([beyond.status, beyond.body.error.message]).toEqual([
      403,
      expect.stringContaining('SLIPWAY_KUBERNETES_LABELS'),
    ])
  })

  test('that replace an earlier pod keep its name, and its leases are lost', async () => {
    const token = tokenOf('pod-3')
    const first = (await joinPod(token, { name: 'pod-3' })).body
    await postSync(cluster, first)
    const run = await seedRun(cluster.database, { instanceId: first.instance_id })
    await cluster.database.query(`UPDATE leases SET acquired_at = now() - interval '5 s' WHERE epoch = $1`, [run.epoch])
    const second = (await joinPod(token, { name: 'pod-3' })).body
    expect(second.instance_id).toBe(first.instance_id)
    expect((await postSync(cluster, first)).status).toBe(401)
    expect((await postSync(cluster, second)).body.error.code).toBe('LEASES_LOST')
    await endLease(cluster.database, run.epoch)
    expect((await postSync(cluster, second)).status).toBe(200)
  })

  test('cannot take the name of an instance that joined with a join token or another service account', async () => {
    await joinInstance(cluster, { name: 'pod-4' })
    expect((await joinPod(tokenOf('pod-4'), { name: 'pod-4' })).status).toBe(409)
    await joinPod(tokenOf('pod-5', 'other/instance'), { name: 'pod-5' })
    expect((await joinPod(tokenOf('pod-5'), { name: 'pod-5' })).status).toBe(409)
    expect((await postJoin(cluster, await addGrant(cluster.database), joinBody({ name: 'pod-5' }))).status).toBe(409)
  })
})

describe('after the join', () => {
  test('a sync with a label that the instance may not claim is refused with the reason and is no heartbeat', async () => {
    const instance = await joinInstance(bridge)
    await bridge.database.query(`UPDATE instances SET allowed_labels = '{"pool":"eu"}' WHERE id = $1`, [instance.id])
    await postSync(bridge, instance, { labels: { pool: 'eu' } })
    const before = await rowOf(instance.id)
    const { status, body } = await postSync(bridge, instance, { labels: { pool: 'us' } })
    expect([status, body.error.message]).toEqual([
      403,
      expect.stringMatching(/pool=us.*pool=eu.*SLIPWAY_INSTANCE_LABELS/),
    ])
    expect(await rowOf(instance.id)).toEqual(before)
    expect((await postSync(bridge, instance, { labels: {} })).status).toBe(200)
  })

  test('joins with invalid tokens leave at most 60 audit records in a minute', async () => {
    // The other tests have used up a part of the minute of their bridge.
    const fresh = await startBridgeWithDatabase()
    const count = async () =>
      (await fresh.database.query<{ n: number }>('SELECT count(*)::int AS n FROM audit_records')).rows[0]?.n ?? 0
    await Promise.all(Array.from({ length: 150 }, (_, n) => post(`${fresh.url}/v1/instances`, `nobody-${n}`, {})))
    await waitFor(async () => (await count()) > 0)
    // The calls may span two minutes, each with 60 records.
    expect(await count()).toBeLessThanOrEqual(120)
    await fresh.close()
  })
})

test('a setting of allowed labels: a pair allows one value, a key alone allows any value', () => {
  const allowed = parseAllowedLabels('site=berlin,pool,empty=')
  expect(allowed).toEqual({ site: 'berlin', pool: null, empty: '' })
  expect(labelBeyond(allowed, { site: 'berlin', pool: 'x', empty: '' })).toBeUndefined()
  expect(labelBeyond(allowed, { site: 'rome' })).toBe('site=rome')
  expect(labelBeyond(parseAllowedLabels(''), { a: 'b' })).toBe('a=b')
})
