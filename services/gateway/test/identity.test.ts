import { createHmac, generateKeyPairSync } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createDatabase } from '@slipway/database'
import { hashToken } from '@slipway/runtime'
import { sseTokenKey } from '@slipway/runtime/redis'
import { createTestDatabase } from '@slipway/testing'
import jwt from 'jsonwebtoken'
import request from 'supertest'
import { createAccessTokens } from '../src/credentials/access-token.ts'
import { createGateway } from '../src/gateway.ts'
import { seedIdentity } from '../src/identity/first-admin.ts'
import {
  ADMIN,
  addUser,
  clientOf,
  expectAnswer,
  JWT_KEY,
  logger,
  refusal,
  refused,
  startGateway,
  type TestGateway,
} from './setup.ts'

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.close())

const login = (body: object) => request(gateway.app).post('/api/v1/auth/login').send(body)
const me = (authorization?: string) => {
  const call = request(gateway.app).get('/api/v1/auth/me')
  return authorization === undefined ? call : call.set('Authorization', authorization)
}

describe('login', () => {
  test('returns a valid token and records the time; the email address compares without regard to case', async () => {
    const response = await login({ ...ADMIN, email: 'ADMIN@Example.COM' })
    expectAnswer('login', response)
    expect(response.body).toMatchObject({
      token_type: 'Bearer',
      expires_in: 3600,
      user: { email: ADMIN.email, roles: ['admin'] },
    })
    const current = await me(`Bearer ${response.body.access_token}`)
    expectAnswer('getCurrentUser', current)
    expect(current.body.last_login_at).not.toBeNull()
    expect(current.body.permissions).toContain('deployments:cancel')
  })

  test('a wrong password, an unknown user and an inactive account get the same answer', async () => {
    const suspended = await addUser(gateway, { role: 'user', status: 'suspended', password: 'the-right-password' })
    const answers = [
      await login({ ...ADMIN, password: 'wrong' }),
      await login({ email: 'nobody@example.com', password: 'wrong' }),
      await login({ email: suspended.email, password: 'the-right-password' }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401])
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(answers[0]?.body.error.code).toBe('INVALID_CREDENTIALS')
  })

  test('logins of unknown and suspended users hash the password like any other', async () => {
    const suspended = await addUser(gateway, { role: 'user', status: 'suspended' })
    const compared: (string | null)[] = []
    const { passwords } = gateway.dependencies
    const matches: typeof passwords.matches = (password, hash) => {
      compared.push(hash)
      return passwords.matches(password, hash)
    }
    const { app } = createGateway({ ...gateway.dependencies, passwords: { ...passwords, matches } })
    for (const email of ['nobody@example.com', suspended.email, ADMIN.email]) {
      await request(app).post('/api/v1/auth/login').send({ email, password: 'wrong' })
    }
    expect(compared).toEqual([null, expect.any(String), expect.any(String)])
    expect(await passwords.matches('anything', null)).toBe(false)
  })

  test('every character of a long password counts', async () => {
    const { passwords } = gateway.dependencies
    const hash = await passwords.hash(`${'x'.repeat(100)}a`)
    expect(await passwords.matches(`${'x'.repeat(100)}a`, hash)).toBe(true)
    expect(await passwords.matches(`${'x'.repeat(100)}b`, hash)).toBe(false)
  })
})

describe('the Authorization header', () => {
  test.each([
    ['Bearer', 'INVALID_AUTH_HEADER'],
    ['Basic dXNlcjpwYXNz', 'INVALID_AUTH_HEADER'],
    ['Bearer a b', 'INVALID_AUTH_HEADER'],
    ['token', 'INVALID_AUTH_HEADER'],
    ['', 'UNAUTHORIZED'],
    ['Bearer nonsense', 'INVALID_TOKEN'],
    ['Bearer a.b.c', 'INVALID_TOKEN'],
    ['Bearer svc_unknown', 'INVALID_CREDENTIALS'],
  ])('%j is %s', async (header, code) => {
    expect(refusal(await me(header))).toEqual(refused(401, code))
  })

  test('a missing header is MISSING_AUTH_HEADER', async () => {
    expect(refusal(await me())).toEqual(refused(401, 'MISSING_AUTH_HEADER'))
  })
})

describe('access tokens', () => {
  let userId: string
  let sessionId: string
  beforeAll(async () => {
    const user = await addUser(gateway, { role: 'user' })
    userId = user.id
    sessionId = gateway.dependencies.accessTokens.verify(user.token).session_id
  })

  const now = Math.floor(Date.now() / 1000)
  const claims = () => ({
    kind: 'access',
    iss: 'slipway',
    aud: 'slipway-api',
    sub: userId,
    sid: sessionId,
    iat: now,
    nbf: now,
    exp: now + 60,
  })
  const sign = (payload: object, options: jwt.SignOptions = {}, key: jwt.Secret = JWT_KEY) =>
    jwt.sign(payload, key, { algorithm: 'HS256', keyid: 'test', ...options })
  const codeOf = async (token: string) => (await me(`Bearer ${token}`)).body.error?.code
  const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

  test('a valid token is accepted', async () => {
    expect((await me(`Bearer ${sign(claims())}`)).status).toBe(200)
  })

  test('an expired token is TOKEN_EXPIRED if it is valid otherwise', async () => {
    const expired = () => ({ ...claims(), iat: now - 120, nbf: now - 120, exp: now - 60 })
    expect(await codeOf(sign(expired()))).toBe('TOKEN_EXPIRED')
    expect(await codeOf(sign({ ...expired(), aud: 'other' }))).toBe('INVALID_TOKEN')
    expect(await codeOf(sign(expired(), {}, Buffer.alloc(32, 1)))).toBe('INVALID_TOKEN')
  })

  test('forged tokens are INVALID_TOKEN', async () => {
    const { exp: _exp, ...unending } = claims()
    const { nbf: _nbf, ...always } = claims()
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const publicPem = publicKey.export({ type: 'spki', format: 'pem' }).toString()
    const other = await addUser(gateway, { role: 'admin' })
    const foreignSession = gateway.dependencies.accessTokens.verify(other.token).session_id
    const withHeader = (header: object) => {
      const signed = `${base64(header)}.${base64(claims())}`
      return `${signed}.${createHmac('sha256', Buffer.alloc(3)).update(signed).digest('base64url')}`
    }
    const unsigned = `${base64({ alg: 'none', typ: 'JWT', kid: 'test' })}.${base64(claims())}.`
    const tampered = sign(claims()).replace(/\.[^.]+\./, `.${base64({ ...claims(), sub: gateway.adminToken })}.`)
    const headless = `${base64({ alg: 'HS256' })}.${base64(claims())}`
    const ownKey = createHmac('sha256', 'mine').update(headless).digest('base64url')
    const forged: Record<string, string> = {
      'another key': sign(claims(), {}, Buffer.alloc(32, 1)),
      'an unknown key id': sign(claims(), { keyid: 'other' }),
      'a key id that is a name of Object': sign(claims(), { keyid: '__proto__' }),
      'no signature': unsigned,
      'an empty signature': `${sign(claims()).split('.').slice(0, 2).join('.')}.`,
      'no key id': `${headless}.${ownKey}`,
      'another algorithm of the family': sign(claims(), { algorithm: 'HS512' }),
      'an asymmetric algorithm': sign(claims(), { algorithm: 'RS256' }, privateKey),
      'a changed payload': tampered,
      'another issuer': sign({ ...claims(), iss: 'somebody' }),
      'another audience': sign({ ...claims(), aud: 'slipway-stream' }),
      'another kind': sign({ ...claims(), kind: 'refresh' }),
      'no kind': sign({ ...claims(), kind: undefined }),
      'not yet valid': sign({ ...claims(), nbf: now + 600 }),
      'without an end': sign(unending),
      'without a beginning': sign(always),
      'a subject that is no user': sign({ ...claims(), sub: '00000000-0000-4000-8000-000000000000' }),
      'a subject that is no id': sign({ ...claims(), sub: "' OR 1=1" }),
      'a session of somebody else': sign({ ...claims(), sid: foreignSession }),
      'a session that is none': sign({ ...claims(), sid: '00000000-0000-4000-8000-000000000000' }),
      'a session that is no id': sign({ ...claims(), sid: '../../etc/passwd' }),
      'no session': sign({ ...claims(), sid: undefined }),
      'a key id that is a path': sign(claims(), { keyid: '../../../../dev/null' }),
      'a key id that is SQL': sign(claims(), { keyid: "x' UNION SELECT 'key" }),
      'the key of the encryption': sign(claims(), {}, Buffer.alloc(32, 7)),
      'an empty key': sign(claims(), { algorithm: 'none' }, ''),
      'a public key as the secret': jwt.sign(claims(), publicPem, { algorithm: 'HS256', keyid: 'test' }),
      'a key that the token brings along': withHeader({ alg: 'HS256', kid: 'own', jwk: { kty: 'oct', k: 'AAAA' } }),
      'a key address that the token brings along': withHeader({ alg: 'HS256', kid: 'own', jku: 'http://127.0.0.1:1' }),
      'an audience list that does not hold ours': sign({ ...claims(), aud: ['a', 'b'] }),
      'a body that is no object': jwt.sign('text', JWT_KEY, { algorithm: 'HS256', keyid: 'test' }),
      'a pending token that has expired': sign({
        ...claims(),
        kind: 'pending_2fa',
        iat: now - 90,
        nbf: now - 90,
        exp: now - 60,
      }),
      'a pending token of another key': sign({ ...claims(), kind: 'pending_2fa' }, {}, Buffer.alloc(32, 1)),
    }
    for (const [what, token] of Object.entries(forged)) {
      expect({ what, code: await codeOf(token) }).toEqual({ what, code: 'INVALID_TOKEN' })
    }
  })

  test('tokens of a retired key are valid while the key is listed', async () => {
    const old = createAccessTokens(`old:${Buffer.alloc(32, 3).toString('base64')}`)
    const both = createAccessTokens(
      `new:${Buffer.alloc(32, 4).toString('base64')},old:${Buffer.alloc(32, 3).toString('base64')}`,
    )
    const claims = { user_id: userId, session_id: sessionId }
    expect(both.verify(old.issue(claims))).toEqual(claims)
    expect(() => old.verify(both.issue(claims))).toThrow('not valid')
  })

  test('keys that are too short are a configuration error', () => {
    expect(() => createAccessTokens(`k:${Buffer.alloc(31).toString('base64')}`)).toThrow('SLIPWAY_JWT_KEYS')
    expect(() => createAccessTokens('nonsense')).toThrow('SLIPWAY_JWT_KEYS')
  })
})

describe('permissions of a user', () => {
  test('suspension and changed roles take effect with the next request', async () => {
    const { id, token } = await addUser(gateway, { role: 'operator' })
    const create = (name: string) =>
      clientOf(gateway, token).send('createTarget', '/targets', { name, connection: { type: 'simulated' } })
    expect((await create('allowed')).status).toBe(201)
    await gateway.database.query(
      `UPDATE user_roles SET role_id = (SELECT id FROM roles WHERE name = 'user') WHERE user_id = $1`,
      [id],
    )
    expect(refusal(await create('refused'))).toEqual(refused(403, 'INSUFFICIENT_PERMISSIONS'))
    await gateway.database.query(`UPDATE users SET status = 'suspended' WHERE id = $1`, [id])
    expect(refusal(await create('refused'))).toEqual(refused(403, 'FORBIDDEN'))
  })

  test('only administrators may override a freeze, even if none is active', async () => {
    const { token } = await addUser(gateway, { role: 'operator' })
    const response = await clientOf(gateway, token).send('createDeployment', '/deployments', { override_freeze: true })
    expect(refusal(response)).toEqual(refused(403, 'INSUFFICIENT_PERMISSIONS'))
  })
})

test('an SSE token is stored as a hash with its user and session, and expires', async () => {
  const { id, token } = await addUser(gateway, { role: 'user' })
  const { body } = await clientOf(gateway, token).send('createSseToken', '/auth/sse-token', {})
  const key = sseTokenKey(gateway.namespace, hashToken(body.sse_token))
  const [value, ttl] = await Promise.all([gateway.redis.get(key), gateway.redis.ttl(key)])
  expect(JSON.parse(gateway.dependencies.keys.openText(value ?? '', key))).toMatchObject({
    user_id: id,
    session_id: body.session_id,
  })
  expect(ttl).toBeGreaterThan(0)
  expect(ttl).toBeLessThanOrEqual(body.expires_in)
})

describe('the first administrator', () => {
  test('is created once by concurrent replicas; a later start creates none and needs no settings', async () => {
    const testDatabase = await createTestDatabase()
    const database = createDatabase({ url: testDatabase.urlOf('gateway'), applicationName: 'test', tenant: '*' })
    const { passwords } = gateway.dependencies
    const seed = (admin: { email: string | undefined; password: string | undefined }) =>
      seedIdentity(database, { admin, passwords, logger: { ...logger, info() {} } })
    try {
      await expect(seed({ email: undefined, password: undefined })).rejects.toThrow(
        /SLIPWAY_ADMIN_EMAIL.*\n.*SLIPWAY_ADMIN_PASSWORD/,
      )
      await expect(seed({ email: 'a@b.c', password: 'eleven chars'.slice(1) })).rejects.toThrow('12 to 128')
      await expect(seed({ email: 'a@b.c', password: 'x'.repeat(129) })).rejects.toThrow('12 to 128')
      await Promise.all([1, 2, 3].map(() => seed(ADMIN)))
      await seed({ email: undefined, password: undefined })
      const { rows } = await database.query(
        `SELECT u.email, r.name AS role FROM users u JOIN user_roles ur ON ur.user_id = u.id JOIN roles r ON r.id = ur.role_id`,
      )
      expect(rows).toEqual([{ email: ADMIN.email, role: 'admin' }])
      const roles = await database.query('SELECT name FROM roles WHERE built_in ORDER BY name')
      expect(roles.rows.map(({ name }) => name)).toEqual(['admin', 'operator', 'user'])
    } finally {
      await database.close()
      await testDatabase.drop()
    }
  })
})
