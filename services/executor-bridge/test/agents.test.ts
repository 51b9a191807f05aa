import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { hashToken, randomToken, SLIPWAY_VERSION, uuidv7 } from '@slipway/runtime'
import { OTHER_VERSIONS } from '@slipway/testing'
import { type Answer, type BridgeWithDatabase, keys, post, startBridgeWithDatabase } from './setup.ts'

let bridge: BridgeWithDatabase

beforeAll(async () => {
  bridge = await startBridgeWithDatabase()
})
afterAll(() => bridge?.close())

async function newTarget(connection: object = { type: 'agent' }): Promise<string> {
  const id = uuidv7()
  await bridge.database.query(`INSERT INTO targets (id, name, connection) VALUES ($1, $1::uuid::text, $2)`, [
    id,
    connection,
  ])
  return id
}

/** Inserts an agent token as the gateway does. */
async function grant(targetId: string, life = '1 hour'): Promise<string> {
  const id = uuidv7()
  const token = `${id}.${randomToken()}`
  await bridge.database.query(
    `INSERT INTO agent_grants (id, target_id, token_hash, expires_at) VALUES ($1, $2, $3, now() + $4::interval)`,
    [id, targetId, hashToken(token), life],
  )
  return token
}

const about = { version: SLIPWAY_VERSION, host: '10.0.0.5', port: 8474 }
const enrol = (token: string | undefined, fields: object = {}) =>
  post(`${bridge.url}/v1/agents`, token, { ...about, ...fields })
const beat = ({ body }: Answer, fields: object = {}) =>
  post(`${bridge.url}/v1/agents/${body.agent_id}/heartbeat`, body.credential, { ...about, ...fields })
const agentOf = async (targetId: string) =>
  (await bridge.database.query('SELECT * FROM agents WHERE target_id = $1', [targetId])).rows[0]
const eventsOf = async (targetId: string) =>
  (
    await bridge.database.query(`SELECT FROM outbox WHERE type = 'target.updated' AND body->>'target_id' = $1`, [
      targetId,
    ])
  ).rows.length

describe('enrolment', () => {
  test('gives the agent a key, stores the key sealed, and makes the target online', async () => {
    const target = await newTarget()
    const { status, body } = await enrol(await grant(target))
    expect(status).toBe(201)
    expect(body).toMatchObject({ target_name: target, heartbeat_seconds: 30 })
    const stored = await agentOf(target)
    expect(stored).toMatchObject({ id: body.agent_id, host: '10.0.0.5', port: 8474, version: SLIPWAY_VERSION })
    expect(keys.open(stored?.['key_sealed'] as string, `agent:${body.agent_id}:key`).toString('base64')).toBe(body.key)
    expect(JSON.stringify(stored)).not.toContain(body.credential)
    const facts = await bridge.database.query('SELECT last_seen_at FROM target_facts WHERE target_id = $1', [target])
    expect(facts.rows[0]?.['last_seen_at']).not.toBeNull()
    expect(await eventsOf(target)).toBe(1)
  })

  test('accepts a token once, also from ten simultaneous calls', async () => {
    const token = await grant(await newTarget())
    const answers = await Promise.all(Array.from({ length: 10 }, () => enrol(token)))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(401)])
  })

  test('refuses tokens that are unknown, wrong, expired, superseded, or of another type of target', async () => {
    const target = await newTarget()
    const older = await grant(target)
    await bridge.database.query(
      `UPDATE agent_grants SET created_at = created_at - interval '1 s' WHERE target_id = $1`,
      [target],
    )
    const newer = await grant(target)
    const wrong = `${newer.split('.')[0]}.${randomToken()}`
    const local = await grant(await newTarget({ type: 'local' }))
    const expired = await grant(await newTarget(), '-1 second')
    const unknown = `${randomUUID()}.${randomToken()}`
    for (const token of [undefined, 'x', unknown, wrong, local, expired, older])
      expect((await enrol(token)).status).toBe(401)
    expect((await enrol(newer)).status).toBe(201)
    // The superseded token stays invalid after another agent has enrolled.
    expect((await enrol(newer)).status).toBe(401)
    expect((await enrol(older)).status).toBe(401)
  })

  test('refuses another major version, names both versions, and does not use up the token', async () => {
    const token = await grant(await newTarget())
    const { status, body } = await enrol(token, { version: OTHER_VERSIONS.major })
    expect(status).toBe(409)
    expect(body.error.message).toBe(
      `Version ${OTHER_VERSIONS.major} of the agent does not fit Slipway ${SLIPWAY_VERSION}: they must match in the major version`,
    )
    expect((await enrol(token, { version: OTHER_VERSIONS.minor })).status).toBe(201)
  })

  test.each([{ port: 0 }, { host: 'a b' }, { host: '' }, { version: 1 }, { more: 1 }])('refuses %j', async (fields) => {
    expect((await enrol(await grant(await newTarget()), fields)).status).toBe(400)
  })

  test('of another agent replaces the former one, whose credential becomes invalid', async () => {
    const target = await newTarget()
    const former = await enrol(await grant(target))
    await bridge.database.query(
      `UPDATE agent_grants SET created_at = created_at - interval '1 s' WHERE target_id = $1`,
      [target],
    )
    const later = await enrol(await grant(target), { host: '10.0.0.6' })
    expect((await beat(former)).status).toBe(401)
    expect((await beat(later, { host: '10.0.0.6' })).status).toBe(200)
    expect(later.body.key).not.toBe(former.body.key)
    expect(await agentOf(target)).toMatchObject({ id: later.body.agent_id, host: '10.0.0.6' })
  })
})

describe('a heartbeat', () => {
  test('keeps the target online, and publishes an event when the target is online again', async () => {
    const target = await newTarget()
    const agent = await enrol(await grant(target))
    expect((await beat(agent)).body).toEqual({ heartbeat_seconds: 30 })
    expect(await eventsOf(target)).toBe(1)
    await bridge.database.query(`UPDATE target_facts SET last_seen_at = now() - interval '91 s' WHERE target_id = $1`, [
      target,
    ])
    await beat(agent)
    expect(await eventsOf(target)).toBe(2)
    const { rows } = await bridge.database.query(
      `SELECT last_seen_at > now() - interval '5 s' AS fresh FROM target_facts WHERE target_id = $1`,
      [target],
    )
    expect(rows).toEqual([{ fresh: true }])
  })

  test('stores a changed address and version of the agent', async () => {
    const target = await newTarget()
    const agent = await enrol(await grant(target))
    await beat(agent, { host: 'db-1.example.com', port: 9_000, version: OTHER_VERSIONS.minor })
    expect(await agentOf(target)).toMatchObject({
      host: 'db-1.example.com',
      port: 9_000,
      version: OTHER_VERSIONS.minor,
    })
    expect((await beat(agent, { version: OTHER_VERSIONS.major })).status).toBe(409)
    expect(await agentOf(target)).toMatchObject({ version: OTHER_VERSIONS.minor })
  })

  test('of a revoked agent, one of a deleted target, or under another id is refused', async () => {
    const [one, two] = [await newTarget(), await newTarget()]
    const [first, second] = [await enrol(await grant(one)), await enrol(await grant(two))]
    const foreign = await post(
      `${bridge.url}/v1/agents/${second.body.agent_id}/heartbeat`,
      first.body.credential,
      about,
    )
    expect(foreign.status).toBe(403)
    await bridge.database.query('DELETE FROM agent_grants WHERE target_id = $1', [one])
    expect((await beat(first)).status).toBe(401)
    await bridge.database.query('DELETE FROM targets WHERE id = $1', [two])
    expect((await beat(second)).status).toBe(401)
  })
})
