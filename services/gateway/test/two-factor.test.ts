import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { totp as codeOf, redisUrlOf, waitFor } from '@slipway/testing'
import request from 'supertest'
import { connectCache } from '../src/cache.ts'
import { createGateway, type Gateway } from '../src/gateway.ts'
import { createAttempts } from '../src/identity/attempts.ts'
import { stepOfCode } from '../src/identity/totp.ts'
import { addWrongCode } from '../src/identity/wrong-codes.ts'
import { loginAs, me, outcome, refresh, verify } from './credentials.ts'
import { addUser, clientOf, expectAnswer, logger, refusal, refused, startGateway, type TestGateway } from './setup.ts'

const PASSWORD = 'the-present-password'
/** The clocks of the gateway and of the authenticators stand still. */
const NOW = 1_700_000_000_000
const totp = (secret: string, shift = 0, now = NOW) => codeOf(secret, shift, now)

let gateway: TestGateway
let user: Awaited<ReturnType<typeof addUser>>

beforeAll(async () => {
  gateway = await startGateway({ codeClock: () => NOW })
})
beforeEach(async () => {
  user = await addUser(gateway, { role: 'operator', password: PASSWORD })
})
afterAll(() => gateway.close())

const post = (path: string, body?: object, token = user.token) => {
  const call = request(gateway.app).post(`/api/v1/auth/2fa/${path}`).set('Authorization', `Bearer ${token}`)
  return body === undefined ? call : call.send(body)
}

async function setUp(): Promise<string> {
  const response = await post('setup')
  expectAnswer('setUpTwoFactor', response)
  return response.body.secret
}

/** Enables two-factor authentication with the previous code, so that the current code can be used for a login. */
async function enable(): Promise<{ secret: string; recoveryCodes: string[] }> {
  const secret = await setUp()
  const response = await post('enable', { code: totp(secret, -1) })
  expectAnswer('enableTwoFactor', response)
  return { secret, recoveryCodes: response.body.recovery_codes }
}

const pendingToken = async () => (await loginAs(gateway, user.email, PASSWORD)).body.pending_token as string

const wrongFor = (secret: string) => {
  const right = [-2, -1, 0, 1, 2].map((shift) => totp(secret, shift))
  return Array.from({ length: 20 }, (_, n) => String(n).padStart(6, '0')).filter((code) => !right.includes(code))
}

/** Ends the lock of the codes of the user now. */
const endLock = () =>
  gateway.database.query('UPDATE wrong_codes SET locked_until = clock_timestamp() WHERE user_id = $1', [user.id])

describe('codes', () => {
  // RFC 6238, appendix B, for SHA-1: the last six of its eight digits.
  const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
  test.each([
    [59, '287082'],
    [1111111109, '081804'],
    [1111111111, '050471'],
    [1234567890, '005924'],
    [2000000000, '279037'],
  ])('agree with the standard at %i', (seconds, code) => {
    expect(totp(secret, 0, seconds * 1_000)).toBe(code)
    expect(stepOfCode(secret, code, seconds * 1_000)).toBe(Math.floor(seconds / 30))
  })

  test('are valid one step before and after their own', () => {
    const steps = [-2, -1, 0, 1, 2].map((shift) => stepOfCode(secret, totp(secret, shift), NOW))
    const step = Math.floor(NOW / 30_000)
    expect(steps).toEqual([null, step - 1, step, step + 1, null])
  })

  test('are exactly six digits', () => {
    const now = 59_000
    for (const lax of ['287082x', ' 287082', '287082 ', '+287082', '0287082', '28708２', '287082\n', '', '2.87082e5']) {
      expect(stepOfCode(secret, lax, now)).toBeNull()
    }
  })
})

describe('setting up two-factor authentication', () => {
  test('returns a secret in the otpauth format and does not change the login before it is enabled', async () => {
    const response = await post('setup')
    const { secret, otpauth_url } = response.body
    expect(secret).toMatch(/^[A-Z2-7]{32}$/)
    const url = new URL(otpauth_url)
    expect([url.protocol, url.host, url.searchParams.get('secret'), url.searchParams.get('issuer')]).toEqual([
      'otpauth:',
      'totp',
      secret,
      'Slipway',
    ])
    expect(decodeURIComponent(url.pathname)).toContain(user.email)
    expect((await loginAs(gateway, user.email, PASSWORD)).token).not.toBe('')
  })

  test('stores the secret sealed', async () => {
    const secret = await setUp()
    const { rows } = await gateway.database.query('SELECT * FROM users WHERE id = $1', [user.id])
    expect(rows[0]?.['totp_sealed']).toMatch(/^v1\./)
    expect(JSON.stringify(rows)).not.toContain(secret)
  })

  test('is a conflict in the wrong order, and INVALID_CREDENTIALS with a wrong code', async () => {
    expect(refusal(await post('enable', { code: '123456' }))).toEqual(refused(409, 'CONFLICT'))
    expect(refusal(await post('disable', { code: '123456' }))).toEqual(refused(409, 'CONFLICT'))
    const [wrong] = wrongFor(await setUp())
    expect(refusal(await post('enable', { code: wrong }))).toEqual(refused(401, 'INVALID_CREDENTIALS'))
    await enable()
    expect(refusal(await post('setup'))).toEqual(refused(409, 'CONFLICT'))
    expect(refusal(await post('enable', { code: wrong }))).toEqual(refused(409, 'CONFLICT'))
    expect(refusal(await post('disable', { code: wrong }))).toEqual(refused(401, 'INVALID_CREDENTIALS'))
    expect(refusal(await post('enable', {}))).toEqual(refused(400, 'MISSING_FIELD', { fields: ['code'] }))
  })

  test('can be disabled with a code, and then the recovery codes are invalid', async () => {
    const { secret, recoveryCodes } = await enable()
    const response = await post('disable', { code: totp(secret) })
    expectAnswer('disableTwoFactor', response)
    expect((await loginAs(gateway, user.email, PASSWORD)).token).not.toBe('')
    const again = await setUp()
    expect(again).not.toBe(secret)
    expect(refusal(await post('enable', { code: recoveryCodes[0] }))).toEqual(refused(401, 'INVALID_CREDENTIALS'))
  })
})

test('the current user shows whether the second factor is enabled', async () => {
  const isEnabled = async () =>
    (await clientOf(gateway, user.token).send('getCurrentUser', '/auth/me')).body.two_factor_enabled
  await setUp()
  expect(await isEnabled()).toBe(false)
  const { recoveryCodes } = await enable()
  expect(await isEnabled()).toBe(true)
  expect((await post('disable', { code: recoveryCodes[0] })).status).toBe(200)
  expect(await isEnabled()).toBe(false)
})

describe('a login', () => {
  test('requires a code, and then continues like a login without a code', async () => {
    const { secret } = await enable()
    const first = await loginAs(gateway, user.email, PASSWORD)
    expectAnswer('login', first)
    expect(first.body).toEqual({ requires_2fa: true, pending_token: expect.any(String) })
    expect(first.setCookie).toBe('')
    const second = await verify(gateway, first.body.pending_token, totp(secret))
    expectAnswer('verifyTwoFactor', second)
    expect(await me(gateway, second.token)).toEqual([200, null])
    expect((await refresh(gateway, second.cookie)).status).toBe(200)
  })

  test('does not reveal the second factor without the right password', async () => {
    await enable()
    expect(refusal(await loginAs(gateway, user.email, 'wrong'))).toEqual(refused(401, 'INVALID_CREDENTIALS'))
  })

  test('accepts no token of one step for another step', async () => {
    const { secret } = await enable()
    const pending = await pendingToken()
    for (const path of ['/auth/me', '/deployments', '/server/info', '/auth/api-keys']) {
      expect(await outcome(gateway, pending, 'get', path)).toEqual([403, 'TWO_FACTOR_REQUIRED'])
    }
    expect(await outcome(gateway, pending, 'post', '/auth/sse-token')).toEqual([403, 'TWO_FACTOR_REQUIRED'])
    expect(refusal(await refresh(gateway, `refresh_token=${pending}`))).toEqual(refused(401, 'INVALID_TOKEN'))
    for (const token of [user.token, 'nonsense', `${pending}x`]) {
      expect(refusal(await verify(gateway, token, totp(secret)))).toEqual(refused(401, 'INVALID_TOKEN'))
    }
  })

  test.each([
    ['a logout', 'UPDATE users SET token_version = token_version + 1 WHERE id = $1'],
    ['a suspension', `UPDATE users SET status = 'suspended' WHERE id = $1`],
  ])('%s invalidates pending tokens', async (_what, sql) => {
    const { secret } = await enable()
    const pending = await pendingToken()
    await gateway.database.query(sql, [user.id])
    expect(refusal(await verify(gateway, pending, totp(secret)))).toEqual(refused(401, 'INVALID_TOKEN'))
  })

  test('accepts a code once, and no older code afterwards', async () => {
    const { secret } = await enable()
    expect((await verify(gateway, await pendingToken(), totp(secret))).status).toBe(200)
    expect(refusal(await verify(gateway, await pendingToken(), totp(secret)))).toEqual(
      refused(401, 'INVALID_CREDENTIALS'),
    )
    expect((await verify(gateway, await pendingToken(), totp(secret, 1))).status).toBe(200)
    expect((await verify(gateway, await pendingToken(), totp(secret))).status).toBe(401)
  })

  test('accepts a code once in twenty concurrent attempts', async () => {
    const { secret } = await enable()
    const { accessTokens } = gateway.dependencies
    const replica = createGateway(gateway.dependencies)
    const code = totp(secret)
    const attempt = (one: Gateway) =>
      verify(one, accessTokens.issuePending({ user_id: user.id, token_version: 1 }), code)
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => attempt(index % 2 ? gateway : replica)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ body }) => body.error?.code === 'INVALID_CREDENTIALS')).toHaveLength(19)
  })

  test('rejects the pending token after five wrong codes, also concurrent ones', async () => {
    const { secret } = await enable()
    const pending = await pendingToken()
    const wrong = wrongFor(secret)
    for (const code of wrong.slice(0, 5)) await verify(gateway, pending, code)
    await endLock()
    expect(refusal(await verify(gateway, pending, totp(secret)))).toEqual(refused(401, 'INVALID_TOKEN'))

    await gateway.database.query('DELETE FROM wrong_codes')
    const another = await pendingToken()
    const answers = await Promise.all(wrong.slice(0, 15).map((code) => verify(gateway, another, code)))
    expect(answers.filter(({ body }) => body.error.code === 'INVALID_CREDENTIALS')).toHaveLength(4)
    await endLock()
    expect((await verify(gateway, another, totp(secret))).body.error.code).toBe('INVALID_TOKEN')
    expect((await verify(gateway, await pendingToken(), totp(secret))).status).toBe(200)
  })

  test('accepts the pending token after four wrong codes', async () => {
    const { secret } = await enable()
    const pending = await pendingToken()
    for (const code of wrongFor(secret).slice(0, 4)) await verify(gateway, pending, code)
    expect((await verify(gateway, pending, totp(secret))).status).toBe(200)
  })

  test('is refused while Redis is away, because attempts cannot be counted', async () => {
    const { secret } = await enable()
    const away = connectCache('redis://127.0.0.1:1', { ...logger, warn() {}, error() {} })
    const blind = createGateway({ ...gateway.dependencies, cache: away })
    try {
      const response = await verify(blind, await pendingToken(), totp(secret))
      expect(refusal(response)).toEqual(refused(503, 'SERVICE_UNAVAILABLE'))
    } finally {
      await away.close()
    }
  })
})

describe('recovery codes', () => {
  test('are ten, replace a code once each, and may be typed in any case with spaces', async () => {
    const { recoveryCodes } = await enable()
    expect(new Set(recoveryCodes).size).toBe(10)
    const [first = '', second = ''] = recoveryCodes
    expect((await verify(gateway, await pendingToken(), first)).status).toBe(200)
    expect(refusal(await verify(gateway, await pendingToken(), first))).toEqual(refused(401, 'INVALID_CREDENTIALS'))
    expect((await verify(gateway, await pendingToken(), second.toUpperCase().replaceAll('-', ' '))).status).toBe(200)
  })

  test('succeed once in concurrent attempts, belong to one user, and are stored as hashes', async () => {
    const { recoveryCodes } = await enable()
    const [first = '', second = ''] = recoveryCodes
    const tokens = await Promise.all(Array.from({ length: 8 }, pendingToken))
    const answers = await Promise.all(tokens.map((token) => verify(gateway, token, first)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    const { rows } = await gateway.database.query('SELECT * FROM recovery_codes WHERE user_id = $1', [user.id])
    expect(rows).toHaveLength(10)
    expect(JSON.stringify(rows)).not.toContain(second.slice(0, 4))
    user = await addUser(gateway, { role: 'operator', password: PASSWORD })
    await enable()
    expect((await verify(gateway, await pendingToken(), second)).status).toBe(401)
  })
})

describe('wrong codes of a user', () => {
  const locked = (seconds: number) => ({ status: 429, code: 'AUTH_RATE_LIMIT_EXCEEDED', seconds })
  const told = ({ status, body }: { status: number; body: { error: { code: string; retry_after_secs?: number } } }) =>
    status === 429
      ? { status, code: body.error.code, seconds: body.error.retry_after_secs }
      : { status, code: body.error.code }
  const wrongOnce = { status: 401, code: 'INVALID_CREDENTIALS' }
  /** Tries each code with its own pending token. */
  const tryCodes = async (codes: string[]) => {
    const answers: ReturnType<typeof told>[] = []
    for (const code of codes) answers.push(told(await verify(gateway, await pendingToken(), code)))
    return answers
  }

  test('count over all pending tokens: the fifth locks all codes and recovery codes', async () => {
    const { secret, recoveryCodes } = await enable()
    const pending = await pendingToken()
    expect(await tryCodes(wrongFor(secret).slice(0, 5))).toEqual([...Array(4).fill(wrongOnce), locked(30)])
    const response = await request(gateway.app)
      .post('/api/v1/auth/2fa/verify')
      .send({ pending_token: pending, code: totp(secret) })
    const seconds = Number(response.headers['retry-after'])
    expect(told(response)).toEqual(locked(seconds))
    expect([seconds > 20, seconds <= 30]).toEqual([true, true])
    expect(response.headers['x-ratelimit-remaining']).toBe('0')
    expect((await verify(gateway, await pendingToken(), recoveryCodes[0] ?? '')).status).toBe(429)
    expect((await verify(gateway, await pendingToken(), '000000')).status).toBe(429)
  })

  test('lock with one pending token too, and the refusal names the lock rather than the token', async () => {
    const { secret } = await enable()
    const pending = await pendingToken()
    const answers = []
    for (const code of wrongFor(secret).slice(0, 6)) answers.push((await verify(gateway, pending, code)).status)
    expect(answers).toEqual([401, 401, 401, 401, 429, 429])
  })

  test('double the lock up to 900 s, and a right code after the lock resets the count', async () => {
    const { secret } = await enable()
    const wrong = wrongFor(secret)
    await tryCodes(wrong.slice(0, 4))
    for (const seconds of [30, 60, 120, 240, 480, 900, 900]) {
      expect(await tryCodes(wrong.slice(0, 1))).toEqual([locked(seconds)])
      expect((await verify(gateway, await pendingToken(), totp(secret))).status).toBe(429)
      await endLock()
    }
    expect((await verify(gateway, await pendingToken(), totp(secret))).status).toBe(200)
    expect(await tryCodes(wrong.slice(0, 5))).toEqual([...Array(4).fill(wrongOnce), locked(30)])
  })

  test('neither count nor use up a pending token during a lock', async () => {
    const { secret } = await enable()
    await tryCodes(wrongFor(secret).slice(0, 5))
    const pending = await pendingToken()
    for (const code of wrongFor(secret).slice(0, 8)) expect((await verify(gateway, pending, code)).status).toBe(429)
    await endLock()
    expect((await verify(gateway, pending, totp(secret))).status).toBe(200)
  })

  test('are checked at most four times in concurrent calls to two gateways', async () => {
    const { secret } = await enable()
    const { accessTokens } = gateway.dependencies
    const replica = createGateway(gateway.dependencies)
    const answers = await Promise.all(
      wrongFor(secret).map((code, index) =>
        verify(index % 2 ? gateway : replica, accessTokens.issuePending({ user_id: user.id, token_version: 1 }), code),
      ),
    )
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(4)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(answers.length - 4)
    expect((await verify(replica, await pendingToken(), totp(secret))).status).toBe(429)
  })

  test('do not count after 15 minutes', async () => {
    const { secret } = await enable()
    await tryCodes(wrongFor(secret).slice(0, 4))
    await gateway.database.query(
      `UPDATE wrong_codes SET failed_at = ARRAY(SELECT at - interval '901 seconds' FROM unnest(failed_at) at)
       WHERE user_id = $1`,
      [user.id],
    )
    expect(await tryCodes(wrongFor(secret).slice(0, 5))).toEqual([...Array(4).fill(wrongOnce), locked(30)])
  })

  test('do not include used codes, because those reveal nothing about later ones', async () => {
    const { secret, recoveryCodes } = await enable()
    const [first = ''] = recoveryCodes
    expect((await verify(gateway, await pendingToken(), first)).status).toBe(200)
    expect((await verify(gateway, await pendingToken(), totp(secret))).status).toBe(200)
    expect(await tryCodes([first, totp(secret), first, totp(secret), first, totp(secret)])).toEqual(
      Array(6).fill(wrongOnce),
    )
  })

  test('count in a session too, and the lock applies to the session', async () => {
    const { secret } = await enable()
    const [one, two, three, four, five] = wrongFor(secret)
    expect(await tryCodes([one, two] as string[])).toEqual([wrongOnce, wrongOnce])
    const answers = []
    for (const code of [three, four, five]) answers.push(told(await post('disable', { code })))
    expect(answers).toEqual([wrongOnce, wrongOnce, locked(30)])
    expect((await post('disable', { code: totp(secret) })).status).toBe(429)
    expect((await verify(gateway, await pendingToken(), totp(secret))).status).toBe(429)
    await endLock()
    expect((await post('disable', { code: totp(secret) })).status).toBe(200)
  })

  test('count during the setup too', async () => {
    const secret = await setUp()
    const answers = []
    for (const code of wrongFor(secret).slice(0, 5)) answers.push(told(await post('enable', { code })))
    expect(answers).toEqual([...Array(4).fill(wrongOnce), locked(30)])
    expect((await post('enable', { code: totp(secret) })).status).toBe(429)
  })

  test('have audit records, and so does the lock', async () => {
    const { secret } = await enable()
    await tryCodes(wrongFor(secret).slice(0, 5))
    const { rows } = await gateway.database.query<{ actor_id: string | null; details: object }>(
      `SELECT actor_id, details FROM audit_records WHERE action = 'auth.verify_2fa' AND resource_id = $1 ORDER BY number`,
      [user.id],
    )
    const wrong = { outcome: 'refused', status: 401, code: 'INVALID_CREDENTIALS' }
    const lock = { outcome: 'refused', status: 429, code: 'AUTH_RATE_LIMIT_EXCEEDED', codes_locked_seconds: 30 }
    expect(rows).toEqual([...Array(4).fill(wrong), lock].map((details) => ({ actor_id: null, details })))
  })

  test('do not lock other users', async () => {
    const { secret } = await enable()
    await tryCodes(wrongFor(secret).slice(0, 5))
    user = await addUser(gateway, { role: 'operator', password: PASSWORD })
    const other = await enable()
    expect((await verify(gateway, await pendingToken(), totp(other.secret))).status).toBe(200)
  })

  test('lock even while Redis is away', async () => {
    const { secret } = await enable()
    const away = connectCache('redis://127.0.0.1:1', { ...logger, warn() {}, error() {} })
    const blind = createGateway({ ...gateway.dependencies, cache: away })
    const disable = (code: string) =>
      request(blind.app).post('/api/v1/auth/2fa/disable').set('Authorization', `Bearer ${user.token}`).send({ code })
    try {
      for (const code of wrongFor(secret).slice(0, 4)) expect((await disable(code)).status).toBe(401)
      const [wrong = ''] = wrongFor(secret)
      expect((await disable(wrong)).status).toBe(429)
      expect((await disable(totp(secret))).status).toBe(429)
    } finally {
      await away.close()
    }
  })

  test('the count of locks continues until 15 minutes pass without a lock', () => {
    const at = (seconds: number) => new Date(1_700_000_000_000 + seconds * 1_000)
    const lockedUntil0 = { failed_at: [], locks: 3, locked_until: at(0) }
    expect(addWrongCode(lockedUntil0, at(899)).lockSeconds).toBe(240)
    expect(addWrongCode(lockedUntil0, at(901))).toEqual({
      failed_at: [at(901)],
      locks: 0,
      locked_until: null,
      lockSeconds: null,
    })
    expect(addWrongCode({ ...lockedUntil0, locks: 1_000_000 }, at(1)).lockSeconds).toBe(900)
  })
})

test('a right password succeeds even if Redis becomes unavailable afterwards', async () => {
  const quiet = { ...logger, warn() {}, error() {} }
  const cache = connectCache(redisUrlOf('gateway'), quiet)
  await waitFor(() => cache.isUp(), { what: 'the cache' })
  const proof = async () => {
    await cache.close()
    return true
  }
  expect(await createAttempts(cache, gateway.namespace).checkPassword(user.id, proof)).toBe(true)
})
