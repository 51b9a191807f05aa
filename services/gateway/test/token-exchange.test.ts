import { createHmac, generateKeyPairSync, sign as signBytes } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import {
  type IssuerKey,
  makeIssuerKey,
  startTokenIssuer,
  TOKEN_ALGORITHMS,
  type TokenIssuer,
  waitFor,
} from '@slipway/testing'
import { CompactSign, exportSPKI } from 'jose'
import request from 'supertest'
import { createGateway } from '../src/gateway.ts'
import { startTokenSweeper } from '../src/identity/tokens/sweep.ts'
import { me, outcome } from './credentials.ts'
import {
  addUser,
  type Client,
  clientOf,
  expectAnswer,
  logger,
  refusal,
  refused,
  startGateway,
  type TestGateway,
} from './setup.ts'

const AUDIENCE = 'https://slipway.example'
const CLAIMS = { repository: 'acme/shop', ref: 'refs/heads/*' }
const OF_TOKEN = { aud: AUDIENCE, sub: 'repo:acme/shop', repository: 'acme/shop', ref: 'refs/heads/main' }
const GRANT = {
  grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
  subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
}
const DAY = 86_400
/** The clock of the gateway and of the issuers stands still, so a slow machine changes nothing. */
const NOW = Date.now()
const now = () => Math.floor(NOW / 1_000)

let gateway: TestGateway
let admin: Client
/** The one that the accounts trust. */
let issuer: TokenIssuer
/** Another account trusts this one. */
let stranger: TokenIssuer
beforeAll(async () => {
  gateway = await startGateway({ tokenClock: () => NOW })
  admin = clientOf(gateway, gateway.adminToken)
  issuer = await startTokenIssuer(TOKEN_ALGORITHMS)
  issuer.keys.push(await makeIssuerKey('ES256', 'second'))
  stranger = await startTokenIssuer()
  await addAccount('other-pipeline', { issuer: stranger.url })
})
afterAll(async () => {
  issuer.close()
  stranger.close()
  await gateway.close()
})

let account: { id: string; username: string; trust_id: string }
let counter = 0
beforeEach(async () => {
  counter += 1
  account = await addAccount(`pipeline-${counter}`)
})

async function addAccount(username: string, trust: object = {}) {
  const body = { kind: 'service', username, roles: ['operator'] }
  const { id } = (await admin.send('createUser', '/admin/users', body)).body
  const made = { name: 'main', issuer: issuer.url, audience: AUDIENCE, claims: CLAIMS, ...trust }
  const { status, body: created } = await admin.send('createTrust', `/admin/users/${id}/trusts`, made)
  expect(status).toBe(201)
  return { id: id as string, username, trust_id: created.id as string }
}

const token = (claims: Record<string, unknown> = {}, options: Parameters<TokenIssuer['token']>[1] = {}) =>
  issuer.token({ ...OF_TOKEN, ...claims }, { now: NOW, ...options })

const exchange = (subject_token: string, service_account = account.username, app = gateway.app) =>
  request(app)
    .post('/api/v1/auth/token')
    .send({ ...GRANT, subject_token, service_account })

async function lastAudit() {
  const { rows } = await gateway.database.query<{ details: Record<string, unknown>; resource_id: string | null }>(
    `SELECT details, resource_id, actor_name FROM audit_records WHERE action = 'auth.token_exchange'
      ORDER BY number DESC LIMIT 1`,
  )
  return rows[0]
}

/** A part of a token. */
const encoded = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

const keyOf = (alg: string) => issuer.keys.find((key) => key.alg === alg) as IssuerKey

describe('a token of a trusted pipeline', () => {
  test.each(TOKEN_ALGORITHMS)('signed with %s becomes an access token for 15 minutes', async (alg) => {
    const response = await exchange(await token({}, { key: keyOf(alg) }))
    expectAnswer('exchangeToken', response)
    expect(response.headers['set-cookie']).toBe(undefined)
    expect(response.body).toMatchObject({
      expires_in: 900,
      token_type: 'Bearer',
      issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      user: { kind: 'service', username: account.username, email: null, roles: ['operator'] },
    })
    const claims = JSON.parse(Buffer.from(response.body.access_token.split('.')[1], 'base64url').toString())
    expect(claims.exp - claims.iat).toBe(900)
    const { body } = await clientOf(gateway, response.body.access_token).send('getCurrentUser', '/auth/me')
    expect(body).toMatchObject({ id: account.id, kind: 'service', api_key_id: null })
    const { rows } = await gateway.database.query(
      `SELECT round(extract(epoch FROM expires_at - created_at))::int AS seconds,
         (SELECT count(*)::int FROM refresh_tokens r WHERE r.user_id = s.user_id) AS refresh_tokens
        FROM sessions s WHERE user_id = $1`,
      [account.id],
    )
    expect(rows).toEqual([{ seconds: 900, refresh_tokens: 0 }])
    expect(await lastAudit()).toEqual({
      resource_id: account.id,
      actor_name: account.username,
      details: { trust: 'main', issuer: issuer.url, subject: 'repo:acme/shop' },
    })
  })

  test('may be sent as a form, as in RFC 8693', async () => {
    const body = { ...GRANT, subject_token: await token(), service_account: account.username }
    const response = await request(gateway.app).post('/api/v1/auth/token').type('form').send(body)
    expectAnswer('exchangeToken', response)
  })

  test.each<[string, Record<string, unknown>]>([
    ['a list of audiences', { aud: ['x', AUDIENCE] }],
    ['a clock 50 s ahead', { iat: now() + 50, nbf: now() + 50, exp: now() + 600 }],
    ['an end 50 s ago', { iat: now() - 300, nbf: now() - 300, exp: now() - 50 }],
    ['a lifetime of 24 h', { iat: now() - 10, exp: now() - 10 + DAY }],
    ['no nbf', { nbf: undefined }],
    ['no id of its own', { jti: undefined }],
    ['a subject that Postgres cannot store', { sub: 'a\u0000b\ud800' }],
    ['a long subject of wide characters', { sub: `x${'🔑'.repeat(600)}` }],
    ['no subject', { sub: undefined }],
    ['claims of any kind that no trust names', { groups: ['a'], admin: true, nothing: null }],
  ])('with %s is accepted', async (_, claims) => {
    expect((await exchange(await token(claims))).status).toBe(200)
  })

  test('is accepted by the second trust, if the first does not match', async () => {
    const trust = { name: 'tags', issuer: issuer.url, audience: AUDIENCE, claims: { ref: 'refs/tags/*' } }
    await admin.send('createTrust', `/admin/users/${account.id}/trusts`, trust)
    expect((await exchange(await token({ ref: 'refs/tags/v1' }))).status).toBe(200)
    expect((await lastAudit())?.details).toMatchObject({ trust: 'tags' })
  })

  test('works once for each account, also when jobs send it at the same time', async () => {
    const other = await addAccount(`second-${counter}`)
    const jwt = await token()
    const statuses = (await Promise.all([1, 2, 3, 4, 5].map(() => exchange(jwt)))).map(({ status }) => status)
    expect(statuses.sort()).toEqual([200, 401, 401, 401, 401])
    expect((await exchange(jwt, other.username)).status).toBe(200)
  })

  test('leaves no row when it has expired', async () => {
    await gateway.database.query(
      `INSERT INTO exchanged_tokens VALUES ('over', now() - interval '1 second'), ('used', now() + interval '1 hour')`,
    )
    const sweeper = startTokenSweeper(gateway.dependencies.database, logger)
    const rows = async () =>
      (
        await gateway.database.query<{ token_hash: string }>(
          `SELECT token_hash FROM exchanged_tokens WHERE token_hash IN ('over', 'used')`,
        )
      ).rows.map(({ token_hash }) => token_hash)
    await waitFor(async () => !(await rows()).includes('over'), { what: 'the sweep' })
    await sweeper.stop()
    expect(await rows()).toEqual(['used'])
  })

  test('is stored as a hash, for longer than any clock accepts it', async () => {
    const jti = `once-${counter}`
    const own = await addAccount(`hashed-${counter}`)
    await gateway.database.query('DELETE FROM exchanged_tokens')
    await exchange(await token({ jti, exp: now() + 300 }), own.username)
    const { rows } = await gateway.database.query<{ token_hash: string; expires_at: Date }>(
      'SELECT token_hash, expires_at FROM exchanged_tokens',
    )
    expect(rows).toHaveLength(1)
    expect(JSON.stringify(rows)).not.toContain(jti)
    expect(rows[0]?.expires_at.getTime()).toBe((now() + 300 + 60 + 600) * 1_000)
  })
})

describe('the session of an exchanged token', () => {
  const exchanged = async () => (await exchange(await token())).body.access_token as string

  test('deploys and reads, but does nothing that needs a login of a person', async () => {
    const session = await exchanged()
    expect((await clientOf(gateway, session).send('listTargets', '/targets')).status).toBe(200)
    const forbidden = [403, 'FORBIDDEN']
    expect(await outcome(gateway, session, 'post', '/auth/api-keys', { name: 'k' })).toEqual(forbidden)
    expect(await outcome(gateway, session, 'get', '/auth/sessions')).toEqual(forbidden)
    expect(await outcome(gateway, session, 'post', '/auth/2fa/setup')).toEqual(forbidden)
    expect(await outcome(gateway, session, 'post', '/auth/logout')).toEqual(forbidden)
    expect(await outcome(gateway, session, 'delete', `/auth/api-keys/${account.id}`)).toEqual(forbidden)
    const password = { current_password: 'x', new_password: 'a long enough password' }
    expect(await outcome(gateway, session, 'post', '/auth/password', password)).toEqual(forbidden)
  })

  test('ends when the account is suspended, and stays ended when it is active again', async () => {
    const session = await exchanged()
    const set = (status: string) => admin.send('updateUser', `/admin/users/${account.id}`, { status })
    await set('suspended')
    expect(await me(gateway, session)).toEqual([403, 'FORBIDDEN'])
    await set('active')
    expect(await me(gateway, session)).toEqual([401, 'INVALID_TOKEN'])
  })

  test('ends by itself, and a later exchange deletes it', async () => {
    const session = await exchanged()
    await gateway.database.query('UPDATE sessions SET expires_at = now() WHERE user_id = $1', [account.id])
    expect(await me(gateway, session)).toEqual([401, 'INVALID_TOKEN'])
    await exchanged()
    const { rows } = await gateway.database.query('SELECT FROM sessions WHERE user_id = $1', [account.id])
    expect(rows).toHaveLength(1)
  })
})

/** Replaces parts of a signed token. */
const edited = (jwt: string, edit: (parts: string[]) => string[]) => edit(jwt.split('.')).join('.')
/** A token with a header and a signature of the attacker's choice. */
const forged = (header: object, claims: object, sign: (input: string) => Buffer | string) => {
  const input = `${encoded(header)}.${encoded({ iss: issuer.url, iat: now(), exp: now() + 300, ...OF_TOKEN, ...claims })}`
  const signature = sign(input)
  return `${input}.${typeof signature === 'string' ? signature : signature.toString('base64url')}`
}

describe('a wrong token is refused with one answer, and the audit log has the reason', () => {
  const attacker = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  const attackerJwk = attacker.publicKey.export({ format: 'jwk' })
  const byAttacker = (input: string) => signBytes('RSA-SHA256', Buffer.from(input), attacker.privateKey)
  const rsaHeader = { alg: 'RS256', kid: 'key-RS256' }
  const claimMismatch = (claim: string) => ({
    reason: 'no_trust_matches',
    mismatches: [{ trust: 'main', claim }],
  })

  /** The whole answer, without what differs in every answer. */
  const whole = ({ status, headers, text }: request.Response) => {
    const { 'x-request-id': _, date: __, ...rest } = headers
    return { status, text, headers: rest }
  }
  let usual: ReturnType<typeof whole>
  beforeAll(async () => {
    usual = whole(await exchange('x', 'nobody'))
    expect([usual.status, JSON.parse(usual.text).error.code]).toEqual([401, 'INVALID_TOKEN'])
  })

  type Make = () => Promise<string> | string
  test.each<[string, Make, object]>([
    // Form.
    ['no token at all', () => 'x', { reason: 'malformed_token' }],
    ['two parts', async () => edited(await token(), ([a = '', b = '']) => [a, b]), { reason: 'malformed_token' }],
    ['five parts', async () => `${await token()}.x.y`, { reason: 'malformed_token' }],
    [
      'a header that is no JSON',
      async () => edited(await token(), ([, b = '', c = '']) => [encoded('{'), b, c]),
      { reason: 'malformed_token' },
    ],
    [
      'claims that are a list',
      () => forged(rsaHeader, {}, byAttacker).replace(/\.[^.]+\./, `.${encoded('[]')}.`),
      { reason: 'malformed_token' },
    ],
    [
      'claims that are a text',
      async () =>
        new CompactSign(Buffer.from('"x"'))
          .setProtectedHeader({ alg: 'ES256', kid: 'key-ES256' })
          .sign(keyOf('ES256').sign),
      { reason: 'malformed_token' },
    ],
    // Algorithms.
    ['the algorithm none', () => forged({ alg: 'none' }, {}, () => ''), { reason: 'algorithm_not_allowed' }],
    ['the algorithm None', () => forged({ alg: 'None' }, {}, () => ''), { reason: 'algorithm_not_allowed' }],
    [
      'HS256 with the public key as the secret',
      async () => {
        const pem = await exportSPKI(keyOf('RS256').publicKey)
        return forged({ alg: 'HS256', kid: 'key-RS256' }, {}, (input) =>
          createHmac('sha256', pem).update(input).digest(),
        )
      },
      { reason: 'algorithm_not_allowed' },
    ],
    [
      'RS512',
      () =>
        forged({ alg: 'RS512', kid: 'key-RS256' }, {}, (input) =>
          signBytes('RSA-SHA512', Buffer.from(input), attacker.privateKey),
        ),
      { reason: 'algorithm_not_allowed' },
    ],
    ['no algorithm', () => forged({ kid: 'key-RS256' }, {}, byAttacker), { reason: 'algorithm_not_allowed' }],
    ['a list of algorithms', () => forged({ alg: ['RS256'] }, {}, byAttacker), { reason: 'algorithm_not_allowed' }],
    [
      'an algorithm that its key is not for',
      () => forged({ alg: 'PS256', kid: 'key-RS256' }, {}, byAttacker),
      { reason: 'unknown_key' },
    ],
    // Keys.
    ['the signature of another key', () => forged(rsaHeader, {}, byAttacker), { reason: 'wrong_signature' }],
    [
      'an empty signature',
      async () => edited(await token(), ([a = '', b = '']) => [a, b, '']),
      { reason: 'wrong_signature' },
    ],
    [
      'the signature of another token',
      async () =>
        edited(await token(), ([a = '', b = '']) => [a, b]) + (await token()).slice((await token()).lastIndexOf('.')),
      { reason: 'wrong_signature' },
    ],
    [
      'changed claims',
      async () =>
        edited(await token(), ([a = '', , c = '']) => [
          a,
          encoded({ iss: issuer.url, iat: now(), exp: now() + 300, ...OF_TOKEN, ref: 'refs/heads/other' }),
          c,
        ]),
      { reason: 'wrong_signature' },
    ],
    [
      'an unknown key id',
      async () => token({}, { key: await makeIssuerKey('ES256', 'unknown') }),
      { reason: 'unknown_key' },
    ],
    [
      'no key id, where several keys fit',
      () => token({}, { key: keyOf('ES256'), header: { kid: undefined } }),
      { reason: 'unknown_key' },
    ],
    [
      'a key in its header (jwk)',
      () => forged({ ...rsaHeader, jwk: attackerJwk }, {}, byAttacker),
      { reason: 'wrong_signature' },
    ],
    [
      'a key in its header, with the id of that key',
      () => forged({ alg: 'RS256', kid: 'mine', jwk: { ...attackerJwk, kid: 'mine' } }, {}, byAttacker),
      { reason: 'unknown_key' },
    ],
    [
      'the address of a key in its header (jku)',
      () => forged({ ...rsaHeader, jku: `${stranger.url}/keys` }, {}, byAttacker),
      { reason: 'wrong_signature' },
    ],
    [
      'certificates in its header (x5c)',
      () => forged({ ...rsaHeader, x5c: ['MII='] }, {}, byAttacker),
      { reason: 'wrong_signature' },
    ],
    [
      'the address of certificates in its header (x5u)',
      () => forged({ ...rsaHeader, x5u: `${stranger.url}/keys` }, {}, byAttacker),
      { reason: 'wrong_signature' },
    ],
    [
      'a critical header that nobody knows',
      () => forged({ ...rsaHeader, crit: ['x'], x: 1 }, {}, byAttacker),
      { reason: 'unusable_key' },
    ],
    [
      'claims that are not encoded (b64)',
      () => forged({ ...rsaHeader, crit: ['b64'], b64: false }, {}, byAttacker),
      { reason: 'wrong_signature' },
    ],
    // Issuers and audiences.
    [
      'an issuer that no trust of the account names',
      () => stranger.token(OF_TOKEN, { now: NOW }),
      { reason: 'untrusted_issuer' },
    ],
    ['the issuer with a slash', () => token({ iss: `${issuer.url}/` }), { reason: 'untrusted_issuer' }],
    ['no issuer', () => token({ iss: undefined }), { reason: 'missing_claim', claim: 'iss' }],
    ['a list of issuers', () => token({ iss: [issuer.url] }), { reason: 'missing_claim', claim: 'iss' }],
    [
      'the name of the issuer, but the key of another',
      async () => issuer.token(OF_TOKEN, { key: stranger.keys[0] as IssuerKey, header: { kid: 'key-ES256' } }),
      { reason: 'wrong_signature' },
    ],
    ['another audience', () => token({ aud: 'https://other.example' }), claimMismatch('aud')],
    ['the audience with a slash', () => token({ aud: `${AUDIENCE}/` }), claimMismatch('aud')],
    ['no audience', () => token({ aud: undefined }), claimMismatch('aud')],
    // Times.
    ['an end 70 s ago', () => token({ iat: now() - 600, exp: now() - 70 }), { reason: 'expired', claim: 'exp' }],
    ['no end', () => token({ exp: undefined }), { reason: 'missing_claim', claim: 'exp' }],
    ['an end that is a text', () => token({ exp: String(now() + 300) }), { reason: 'wrong_claim', claim: 'exp' }],
    [
      'an end without end',
      async () =>
        new CompactSign(
          Buffer.from(
            `{"iss":"${issuer.url}","aud":"${AUDIENCE}","iat":${now()},"exp":1e999,"repository":"acme/shop","ref":"refs/heads/main"}`,
          ),
        )
          .setProtectedHeader({ alg: 'ES256', kid: 'key-ES256' })
          .sign(keyOf('ES256').sign),
      { reason: 'lifetime_too_long', claim: 'exp' },
    ],
    ['a beginning in 70 s', () => token({ nbf: now() + 70 }), { reason: 'wrong_claim', claim: 'nbf' }],
    ['a making in 70 s', () => token({ iat: now() + 70, nbf: now() }), { reason: 'wrong_claim', claim: 'iat' }],
    ['no time of its making', () => token({ iat: undefined }), { reason: 'missing_claim', claim: 'iat' }],
    [
      'a lifetime over 24 h',
      () => token({ iat: now(), exp: now() + DAY + 1 }),
      { reason: 'lifetime_too_long', claim: 'exp' },
    ],
    [
      'an age over 24 h',
      () => token({ iat: now() - DAY - 70, nbf: now(), exp: now() + 60 }),
      { reason: 'expired', claim: 'iat' },
    ],
    // Claims.
    ['one claim of two', () => token({ ref: undefined }), claimMismatch('ref')],
    ['another repository', () => token({ repository: 'acme/shop-evil' }), claimMismatch('repository')],
    ['a repository that ends alike', () => token({ repository: 'evil/acme/shop' }), claimMismatch('repository')],
    ['a beginning in the wrong place', () => token({ ref: 'x/refs/heads/main' }), claimMismatch('ref')],
    ['a value with the wildcard', () => token({ repository: 'acme/*' }), claimMismatch('repository')],
    ['a list with the value', () => token({ repository: ['acme/shop'] }), claimMismatch('repository')],
    ['an object with the value', () => token({ repository: { '0': 'acme/shop' } }), claimMismatch('repository')],
    ['a claim that is true', () => token({ ref: true }), claimMismatch('ref')],
  ])('%s', async (_, make, details) => {
    const jwt = await make()
    expect(whole(await exchange(jwt))).toEqual(usual)
    const audit = await lastAudit()
    expect(audit).toMatchObject({ resource_id: account.id, details })
    for (const part of jwt.split('.')) {
      if (part.length > 1) expect(JSON.stringify(audit)).not.toContain(part)
    }
  })

  test('a replay, with and without an id of its own, also with the same signature in another form', async () => {
    const malleable = (jwt: string) => {
      // Another point with the same meaning: (r, s) and (r, n - s) are both signatures.
      const order = BigInt('0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551')
      const bytes = Buffer.from(jwt.slice(jwt.lastIndexOf('.') + 1), 'base64url')
      const s = order - BigInt(`0x${bytes.subarray(32).toString('hex')}`)
      const other = Buffer.concat([bytes.subarray(0, 32), Buffer.from(s.toString(16).padStart(64, '0'), 'hex')])
      return `${jwt.slice(0, jwt.lastIndexOf('.'))}.${other.toString('base64url')}`
    }
    for (const claims of [{}, { jti: undefined }]) {
      const jwt = await token(claims, { key: keyOf('ES256') })
      expect((await exchange(jwt)).status).toBe(200)
      for (const again of [jwt, malleable(jwt)]) {
        expect(whole(await exchange(again))).toEqual(usual)
        expect((await lastAudit())?.details).toMatchObject({ reason: 'used_before' })
      }
    }
  })

  test('another token with the id of one that was used', async () => {
    const jti = `same-${counter}`
    expect((await exchange(await token({ jti }))).status).toBe(200)
    expect(whole(await exchange(await token({ jti, sub: 'another' })))).toEqual(usual)
  })

  test('a good token for an account that does not exist, that is a person, or that trusts somebody else', async () => {
    const person = await addUser(gateway, { role: 'operator' })
    for (const [name, reason] of [
      ['nobody', 'unknown_account'],
      [person.username, 'not_a_service_account'],
      ['other-pipeline', 'untrusted_issuer'],
      [account.username.toUpperCase(), 'unknown_account'],
    ] as const) {
      expect(whole(await exchange(await token(), name))).toEqual(usual)
      expect((await lastAudit())?.details).toMatchObject({ reason, outcome: 'refused', code: 'INVALID_TOKEN' })
    }
  })

  test.each(['suspended', 'inactive'])('a good token for an account that is %s', async (status) => {
    await admin.send('updateUser', `/admin/users/${account.id}`, { status })
    expect(whole(await exchange(await token()))).toEqual(usual)
    expect(await lastAudit()).toMatchObject({ resource_id: account.id, details: { reason: 'account_not_active' } })
  })

  test('a good token after its trust was deleted, and after its account was deleted', async () => {
    await admin.send('deleteTrust', `/admin/users/${account.id}/trusts/${account.trust_id}`)
    expect(whole(await exchange(await token()))).toEqual(usual)
    expect((await lastAudit())?.details).toMatchObject({ reason: 'untrusted_issuer' })
    await admin.send('deleteUser', `/admin/users/${account.id}`)
    expect(whole(await exchange(await token()))).toEqual(usual)
    expect((await lastAudit())?.details).toMatchObject({ reason: 'unknown_account' })
  })

  test('no issuer is called that no trust of the named account names', async () => {
    stranger.asked = []
    for (const name of [account.username, 'nobody']) await exchange(await stranger.token(OF_TOKEN, { now: NOW }), name)
    expect(stranger.asked).toEqual([])
  })
})

describe('the body of an exchange', () => {
  const send = (body: object, type = 'json') => request(gateway.app).post('/api/v1/auth/token').type(type).send(body)
  const whole = { ...GRANT, subject_token: 'x', service_account: 'y' }

  test.each<[string, object, string]>([
    ['another grant', { ...whole, grant_type: 'password' }, 'VALIDATION_ERROR'],
    ['another type of token', { ...whole, subject_token_type: 'x' }, 'VALIDATION_ERROR'],
    ['an unknown field', { ...whole, scope: 'x' }, 'VALIDATION_ERROR'],
    ['an empty token', { ...whole, subject_token: '' }, 'VALIDATION_ERROR'],
    ['a name with NUL', { ...whole, service_account: 'a\u0000' }, 'VALIDATION_ERROR'],
    ['no account', { ...GRANT, subject_token: 'x' }, 'MISSING_FIELD'],
  ])('with %s is 400, in JSON and as a form', async (_, body, code) => {
    for (const type of ['json', 'form']) expect(refusal(await send(body, type))).toMatchObject(refused(400, code))
  })

  test('as a form must have each field once', async () => {
    const twice = `${new URLSearchParams(whole)}&service_account=z`
    const response = await request(gateway.app).post('/api/v1/auth/token').type('form').send(twice)
    expect(refusal(response)).toEqual(refused(400, 'INVALID_BODY'))
  })

  test('of another type is refused, and no other operation takes a form', async () => {
    expect(refusal(await send({}, 'text/plain').send('x'))).toEqual(refused(415, 'UNSUPPORTED_MEDIA_TYPE'))
    const login = request(gateway.app).post('/api/v1/auth/login').type('form').send({ email: 'a@b.c', password: 'x' })
    expect(refusal(await login)).toEqual(refused(415, 'UNSUPPORTED_MEDIA_TYPE'))
  })
})

describe('an issuer that cannot be used', () => {
  const reasonWith = async (instead: TokenIssuer['instead']) => {
    const broken = await startTokenIssuer()
    broken.instead = instead
    const own = await addAccount(`broken-${++counter}`, { issuer: broken.url })
    try {
      expect((await exchange(await broken.token(OF_TOKEN, { now: NOW }), own.username)).status).toBe(401)
      return (await lastAudit())?.details
    } finally {
      broken.close()
    }
  }
  const answer =
    (path: RegExp, status: number, headers: object, body: string): TokenIssuer['instead'] =>
    (incoming, response) => {
      if (!path.test(incoming.url ?? '')) return false
      response.writeHead(status, { ...headers }).end(body)
      return true
    }
  const unavailable = (problem: RegExp) => ({ reason: 'issuer_unavailable', problem: expect.stringMatching(problem) })

  test.each<[string, TokenIssuer['instead'], RegExp]>([
    [
      'is down',
      (incoming) => {
        incoming.destroy()
        return true
      },
      /ECONNRESET/,
    ],
    ['answers with an error', answer(/./, 500, {}, 'down'), /answered with 500/],
    ['redirects its document', answer(/well-known/, 302, { location: 'http://127.0.0.1:1' }, ''), /answered with 302/],
    [
      'redirects its keys',
      answer(/keys/, 307, { location: 'http://127.0.0.1:1' }, ''),
      /key set was answered with 307/,
    ],
    ['sends more than 1 MiB', answer(/keys/, 200, {}, ' '.repeat(1024 * 1024 + 1)), /longer than 1048576 bytes/],
    ['sends no JSON', answer(/keys/, 200, {}, '<html>'), /not valid JSON/],
    ['sends no keys', answer(/keys/, 200, {}, '{"keys":{}}'), /no JSON Web Key Set/],
    [
      'is another one',
      answer(/well-known/, 200, {}, '{"issuer":"https://x.example","jwks_uri":"https://x.example/k"}'),
      /another issuer/,
    ],
  ])('because it %s', async (_, instead, problem) => {
    expect(await reasonWith(instead)).toMatchObject(unavailable(problem))
  })

  test('because its keys are not at an HTTPS address', async () => {
    const plain: TokenIssuer['instead'] = (incoming, response) => {
      const text = JSON.stringify({ issuer: `http://${incoming.headers.host}`, jwks_uri: 'http://keys.example/jwks' })
      response.end(text)
      return true
    }
    expect(await reasonWith(plain)).toMatchObject(unavailable(/must begin with https/))
  })

  test.each<[string, (response: ServerResponse) => void]>([
    ['at all', () => {}],
    ['completely', (response) => void response.write('{')],
  ])('because it does not answer %s', async (_, begin) => {
    const tokenIssuers = { ...gateway.dependencies.tokenIssuers, answerMs: 100 }
    const hasty = createGateway({ ...gateway.dependencies, tokenIssuers })
    const slow = await startTokenIssuer()
    slow.instead = (_, response) => {
      begin(response)
      return true
    }
    const own = await addAccount(`slow-${++counter}`, { issuer: slow.url })
    expect((await exchange(await slow.token(OF_TOKEN, { now: NOW }), own.username, hasty.app)).status).toBe(401)
    expect((await lastAudit())?.details).toMatchObject(unavailable(/ETIMEDOUT/))
    slow.close()
  })

  test('because its address is not public', async () => {
    const resolve = async () => [{ address: '10.0.0.1', family: 4 }]
    const tokenIssuers = { allowPrivate: false, isDevelopment: false, resolve }
    const production = createGateway({ ...gateway.dependencies, tokenIssuers })
    const own = await addAccount(`private-${++counter}`, { issuer: 'https://issuer.internal' })
    const jwt = await token({ iss: 'https://issuer.internal' })
    expect((await exchange(jwt, own.username, production.app)).status).toBe(401)
    expect((await lastAudit())?.details).toMatchObject(unavailable(/its host leads to an address that is not public/))
  })

  test('a key of it that is too short is not used', async () => {
    const short = generateKeyPairSync('rsa', { modulusLength: 1_024 })
    const jwk = { ...short.publicKey.export({ format: 'jwk' }), kid: 'short', alg: 'RS256' }
    const broken = await startTokenIssuer()
    broken.keys = [{ jwk } as IssuerKey]
    const own = await addAccount(`short-${++counter}`, { issuer: broken.url })
    const sign = (input: string) => signBytes('RSA-SHA256', Buffer.from(input), short.privateKey)
    await exchange(forged({ alg: 'RS256', kid: 'short' }, { iss: broken.url }, sign), own.username)
    expect((await lastAudit())?.details).toMatchObject({ reason: 'unusable_key' })
    broken.close()
  })
})
