import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { SseTokenRecord } from '@slipway/contracts'
import { hashToken, randomToken, uuidv7 } from '@slipway/runtime'
import { sseTokenKey } from '@slipway/runtime/redis'
import { keptLog, type OpenTestDatabase, openTestDatabase } from '@slipway/testing'
import { TestDeployment } from './deployment.ts'
import { droppedFor } from './metrics.ts'
import { type KnownUser, makeUser, startStreams, TEST_KEYS, type TestStreams, until } from './setup.ts'
import { SseClient } from './sse.ts'

let db: OpenTestDatabase
let streams: TestStreams
let deployment: TestDeployment
let user: KnownUser
const clients: SseClient[] = []

beforeAll(async () => {
  db = await openTestDatabase()
  streams = await startStreams({ database: db.database })
  deployment = await TestDeployment.create(db.database)
})
beforeEach(async () => {
  user = await makeUser(db.database)
})
afterEach(() => {
  for (const client of clients.splice(0)) client.close()
})
afterAll(async () => {
  await streams?.close()
  await db?.drop()
})

async function open(token: string, on = streams): Promise<SseClient> {
  const client = await SseClient.open(on, deployment.id, token)
  clients.push(client)
  await until(() => client.all('progress').length > 0, 'the opening')
  return client
}

const isCutOff = (client: SseClient) => until(() => client.broken, 'the end of the stream')

async function keyToken(userId: string, version = 1, scopes: string[] = []): Promise<{ token: string; keyId: string }> {
  const keyId = uuidv7()
  const token = randomToken()
  await db.database.query(
    `INSERT INTO api_keys (id, user_id, name, key_prefix, key_hash, scopes) VALUES ($1, $2, 'key', 'svc_', $3, $4)`,
    [keyId, userId, hashToken(keyId), scopes],
  )
  const record: SseTokenRecord = {
    user_id: userId,
    session_id: uuidv7(),
    credential: { kind: 'api_key', id: keyId, token_version: version },
  }
  const key = sseTokenKey(streams.namespace, hashToken(token))
  await streams.redis.set(key, TEST_KEYS.seal(JSON.stringify(record), key), 'EX', 60)
  return { token, keyId }
}

const changes: [string, string][] = [
  ['a logout', 'UPDATE users SET token_version = token_version + 1 WHERE id = $1'],
  ['a suspension', `UPDATE users SET status = 'suspended' WHERE id = $1`],
  ['the end of the session', 'UPDATE sessions SET revoked_at = now() WHERE user_id = $1'],
  ['the expiry of the session', 'UPDATE sessions SET expires_at = now() WHERE user_id = $1'],
]

describe.each(changes)('%s', (_what, sql) => {
  test('ends open streams of that user only', async () => {
    const own = await open(await streams.token(user))
    const other = await open(await streams.token())
    await db.database.query(sql, [user.user_id])
    await isCutOff(own)
    expect([other.broken, other.ended]).toEqual([false, false])
  })

  test('invalidates tokens that were issued before', async () => {
    const token = await streams.token(user)
    await db.database.query(sql, [user.user_id])
    const response = await fetch(`${streams.url}/api/v1/deployments/${deployment.id}/logs?sse_token=${token}`)
    expect(response.status).toBe(401)
    expect(await response.json()).toMatchObject({ error: { code: 'INVALID_TOKEN' } })
  })
})

test('removing a permission or changing the tenant ends open streams', async () => {
  const withoutPermission = await open(await streams.token(user))
  await db.database.query(`UPDATE roles SET permissions = '{targets:read}' WHERE id = $1`, [user.user_id])
  await isCutOff(withoutPermission)

  const moved = await makeUser(db.database)
  const bound = await open(await streams.token(moved))
  const tenant = uuidv7()
  await makeUser(db.database, { tenant_id: tenant })
  await db.database.query('UPDATE users SET tenant_id = $2 WHERE id = $1', [moved.user_id, tenant])
  await isCutOff(bound)
})

test('a record in Redis that no gateway wrote is no token', async () => {
  const { user_id, session_id } = await makeUser(db.database, {})
  const record = { user_id, session_id, credential: { kind: 'session', id: session_id, token_version: 1 } }
  const open = async (stored: string) => {
    const token = randomToken()
    await streams.redis.set(sseTokenKey(streams.namespace, hashToken(token)), stored, 'EX', 60)
    return (await fetch(`${streams.url}/api/v1/deployments/${uuidv7()}/logs?sse_token=${token}`)).status
  }
  expect(await open(JSON.stringify(record))).toBe(401)
  const ofAnother = sseTokenKey(streams.namespace, hashToken(randomToken()))
  expect(await open(TEST_KEYS.seal(JSON.stringify(record), ofAnother))).toBe(401)
})

test('streams of an API key end with the key and with a logout of its user', async () => {
  const first = await keyToken(user.user_id)
  const second = await keyToken(user.user_id)
  const [ofFirst, ofSecond] = [await open(first.token), await open(second.token)]
  await db.database.query('DELETE FROM api_keys WHERE id = $1', [first.keyId])
  await isCutOff(ofFirst)
  expect(ofSecond.broken).toBe(false)
  await db.database.query('UPDATE users SET token_version = 2 WHERE id = $1', [user.user_id])
  await isCutOff(ofSecond)
  const again = await keyToken(user.user_id, 2)
  expect((await open(again.token)).broken).toBe(false)
})

test('an API key opens no stream outside of its scopes', async () => {
  const opens = async (scopes: string[]) => {
    const { token } = await keyToken(user.user_id, 1, scopes)
    const response = await fetch(`${streams.url}/api/v1/deployments/${uuidv7()}/logs?sse_token=${token}`)
    return ((await response.json()) as { error: { code: string } }).error.code
  }
  expect(await opens(['targets:read'])).toBe('INSUFFICIENT_PERMISSIONS')
  expect(await opens(['deployments:read', 'targets:read'])).toBe('NOT_FOUND')
})

test('a revocation event ends streams without waiting for the next check', async () => {
  const slow = await startStreams({ database: db.database, guardMs: 3_600_000 })
  try {
    const client = await open(await slow.token(user), slow)
    await db.database.query('UPDATE users SET token_version = token_version + 1 WHERE id = $1', [user.user_id])
    slow.guard.look()
    await isCutOff(client)
  } finally {
    await slow.close()
  }
})

test('streams end soon if their permission cannot be checked', async () => {
  let down = false
  const flaky = await startStreams({
    database: db.database,
    logger: keptLog().logger,
    guardDatabase: {
      query: (text, values) => (down ? Promise.reject(new Error('down')) : db.as('log-stream').query(text, values)),
    },
  })
  try {
    const client = await open(await flaky.token(user), flaky)
    const droppedBefore = await droppedFor('unchecked')
    down = true
    await isCutOff(client)
    expect(await droppedFor('unchecked')).toBe(droppedBefore + 1)
  } finally {
    await flaky.close()
  }
})
