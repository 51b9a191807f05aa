import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { SseTokenRecord } from '@slipway/contracts'
import { hashToken } from '@slipway/runtime'
import { sseSessionsKey, sseTokenKey } from '@slipway/runtime/redis'
import request from 'supertest'
import { me, outcome } from './credentials.ts'
import {
  addUser,
  expectAnswer,
  refusal,
  refused,
  startGateway,
  type TestGateway,
  tokenFor,
  UNKNOWN_ID,
} from './setup.ts'

let gateway: TestGateway
let user: Awaited<ReturnType<typeof addUser>>

beforeAll(async () => {
  gateway = await startGateway()
})
beforeEach(async () => {
  user = await addUser(gateway, { role: 'user' })
})
afterAll(() => gateway.close())

const post = (path: string, body: object, token: string) =>
  request(gateway.app).post(`/api/v1/auth/${path}`).set('Authorization', `Bearer ${token}`).send(body)
const begin = async (token = user.token) => (await post('sse-token', {}, token)).body
const goOn = (session: { session_id: string; refresh_token: string }, token = user.token) =>
  post('sse-token/refresh', { session_id: session.session_id, refresh_token: session.refresh_token }, token)
const recordOf = async (token: string): Promise<Partial<SseTokenRecord>> => {
  const key = sseTokenKey(gateway.namespace, hashToken(token))
  const sealed = await gateway.redis.get(key)
  return sealed === null ? {} : JSON.parse(gateway.dependencies.keys.openText(sealed, key))
}

describe('a stream session', () => {
  test('continues with a new SSE token and a new refresh token', async () => {
    const first = await begin()
    const second = await goOn(first)
    expectAnswer('refreshSseToken', second)
    expect(second.body.session_id).toBe(first.session_id)
    expect(second.body.sse_token).not.toBe(first.sse_token)
    expect(await recordOf(second.body.sse_token)).toMatchObject({ user_id: user.id, session_id: first.session_id })
    expect((await goOn(second.body)).status).toBe(200)
  })

  test('accepts each refresh token once, also in concurrent calls', async () => {
    const first = await begin()
    const answers = await Promise.all(Array.from({ length: 20 }, () => goOn(first)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ body }) => body.error?.code === 'INVALID_TOKEN')).toHaveLength(19)
  })

  test('belongs to the login or API key that began it', async () => {
    const first = await begin()
    const other = await addUser(gateway, { role: 'admin' })
    const made = await post('api-keys', { name: 'key' }, user.token)
    const again = await tokenFor({ ...gateway.dependencies, database: gateway.database }, user.id)
    for (const token of [other.token, made.body.full_key, again]) {
      expect(refusal(await goOn(first, token))).toEqual(refused(401, 'INVALID_TOKEN'))
    }
    expect((await goOn(first)).status).toBe(200)
    const ofKey = await begin(made.body.full_key)
    expect((await recordOf(ofKey.sse_token)).credential).toMatchObject({ kind: 'api_key', id: made.body.api_key.id })
    expect((await goOn(ofKey, made.body.full_key)).status).toBe(200)
  })

  test('ends with a logout, also if an API key began it', async () => {
    const made = await post('api-keys', { name: 'key' }, user.token)
    const ofKey = await begin(made.body.full_key)
    const ofLogin = await begin()
    expect(await outcome(gateway, user.token, 'post', '/auth/logout')).toEqual([200, null])
    expect(await me(gateway, made.body.full_key)).toEqual([200, null])
    expect(refusal(await goOn(ofKey, made.body.full_key))).toEqual(refused(401, 'INVALID_TOKEN'))
    expect(refusal(await goOn(ofLogin))).toEqual(refused(401, 'INVALID_TOKEN'))
  })

  test.each([
    [{}, 'MISSING_FIELD'],
    [{ session_id: UNKNOWN_ID }, 'MISSING_FIELD'],
    [{ session_id: 'nonsense', refresh_token: 'x' }, 'VALIDATION_ERROR'],
    [{ session_id: UNKNOWN_ID, refresh_token: '' }, 'VALIDATION_ERROR'],
  ])('is not refreshed with %j: 400 %s', async (body, code) => {
    expect((await post('sse-token/refresh', body, user.token)).body.error.code).toBe(code)
  })

  test('is INVALID_TOKEN if it is unknown or the refresh token is wrong', async () => {
    const first = await begin()
    expect(refusal(await goOn({ ...first, session_id: UNKNOWN_ID }))).toEqual(refused(401, 'INVALID_TOKEN'))
    expect(refusal(await goOn({ ...first, refresh_token: first.sse_token }))).toEqual(refused(401, 'INVALID_TOKEN'))
  })
})

test('stream tokens are no access tokens and are not stored in plain text', async () => {
  const first = await begin()
  for (const token of [first.sse_token, first.refresh_token]) {
    expect(await me(gateway, token)).toEqual([401, 'INVALID_TOKEN'])
  }
  const keys = await gateway.redis.keys(`${gateway.namespace}:sse-*`)
  const hashes = keys.filter((key) => key.includes('sse-sessions'))
  const values = [keys, await Promise.all(hashes.map((key) => gateway.redis.hgetall(key)))]
  expect(JSON.stringify(values)).toContain(first.session_id)
  expect(JSON.stringify(values)).not.toContain(first.refresh_token)
  expect(JSON.stringify(values)).not.toContain(first.sse_token)
})

test('a client with too many stream sessions loses the oldest', async () => {
  const first = await begin()
  const id = (await recordOf(first.sse_token)).credential?.id
  await gateway.redis.hset(
    sseSessionsKey(gateway.namespace, String(id)),
    Object.fromEntries(Array.from({ length: 999 }, (_, n) => [`ffffffff-${n}`, 'x'])),
  )
  const second = await begin()
  expect((await goOn(first)).status).toBe(401)
  expect((await goOn(second)).status).toBe(200)
})
