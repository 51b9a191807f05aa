import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import request from 'supertest'
import { createGateway } from '../src/gateway.ts'
import { loginAs, me, outcome, refresh } from './credentials.ts'
import { addUser, expectAnswer, refusal, refused, startGateway, type TestGateway } from './setup.ts'

const PASSWORD = 'the-present-password'
const NEXT = 'the-password-after-it'

let gateway: TestGateway
let replica: Pick<TestGateway, 'app'>
let user: Awaited<ReturnType<typeof addUser>>

beforeAll(async () => {
  gateway = await startGateway()
  replica = createGateway(gateway.dependencies)
})
beforeEach(async () => {
  user = await addUser(gateway, { role: 'operator', password: PASSWORD })
})
afterAll(() => gateway.close())

const login = () => loginAs(gateway, user.email, PASSWORD)
/** Moves the last rotation of the session 11 seconds into the past. */
const later = () =>
  gateway.database.query(
    `UPDATE refresh_tokens SET rotated_at = rotated_at - interval '11 seconds' WHERE user_id = $1`,
    [user.id],
  )
const suspend = () => gateway.database.query(`UPDATE users SET status = 'suspended' WHERE id = $1`, [user.id])

describe('the refresh cookie', () => {
  test('is protected from scripts, other sites and other paths', async () => {
    const { setCookie } = await login()
    expect(setCookie.split('; ').slice(1).sort()).toEqual(
      ['HttpOnly', 'Max-Age=2592000', 'Path=/api/v1/auth', 'SameSite=Strict', 'Secure'].sort(),
    )
    expect(setCookie).toMatch(/^refresh_token=[A-Za-z0-9_-]{43};/)
  })

  test('is not Secure if the configuration says so', async () => {
    const plain = createGateway({ ...gateway.dependencies, cookieSecure: false })
    expect((await loginAs(plain, user.email, PASSWORD)).setCookie).not.toContain('Secure')
  })

  test('is stored as a hash only', async () => {
    const { cookie } = await login()
    const { rows } = await gateway.database.query('SELECT token_hash FROM refresh_tokens WHERE user_id = $1', [user.id])
    expect(rows).toEqual([{ token_hash: expect.stringMatching(/^[0-9a-f]{64}$/) }])
    expect(JSON.stringify(rows)).not.toContain(cookie.split('=')[1])
  })
})

describe('a refresh', () => {
  test('returns the same as a login and replaces the cookie', async () => {
    const first = await login()
    const second = await refresh(gateway, first.cookie)
    expectAnswer('refreshLogin', second)
    expect(second.body.user.id).toBe(user.id)
    expect(second.cookie).not.toBe(first.cookie)
    expect(await me(gateway, second.token)).toEqual([200, null])
    expect(await me(gateway, first.token)).toEqual([200, null])
    expect((await refresh(replica, second.cookie)).status).toBe(200)
  })

  test('is UNAUTHORIZED without a cookie, and INVALID_TOKEN with an invalid cookie', async () => {
    const without = await request(gateway.app).post('/api/v1/auth/refresh')
    expect(refusal(without)).toEqual(refused(401, 'UNAUTHORIZED'))
    const { token, cookie } = await login()
    for (const wrong of ['refresh_token=x', `refresh_token=${token}`, `refresh_token=${'x'.repeat(4_000)}`]) {
      expect(refusal(await refresh(gateway, wrong))).toEqual(refused(401, 'INVALID_TOKEN'))
    }
    expect(refusal(await refresh(gateway, cookie.replace('refresh_token', 'other')))).toEqual(
      refused(401, 'UNAUTHORIZED'),
    )
  })

  test('ends the whole session if its token was replaced', async () => {
    const first = await login()
    const second = await refresh(gateway, first.cookie)
    const elsewhere = await login()
    await later()
    expect(refusal(await refresh(gateway, first.cookie))).toEqual(refused(401, 'INVALID_TOKEN'))
    expect(refusal(await refresh(gateway, second.cookie))).toEqual(refused(401, 'INVALID_TOKEN'))
    expect(await me(replica, second.token)).toEqual([401, 'INVALID_TOKEN'])
    expect(await me(gateway, elsewhere.token)).toEqual([200, null])
    const { rows } = await gateway.database.query(
      `SELECT details FROM audit_records WHERE action = 'auth.refresh' AND actor_id = $1 AND details ? 'reused_token_ended_session'`,
      [user.id],
    )
    expect(rows).toHaveLength(1)
  })

  test('succeeds once in concurrent calls with one token, and the session continues', async () => {
    const first = await login()
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) => refresh(index % 2 ? gateway : replica, first.cookie)),
    )
    const won = answers.filter(({ status }) => status === 200)
    expect(won).toHaveLength(1)
    expect(answers.filter(({ body }) => body.error?.code === 'INVALID_TOKEN')).toHaveLength(29)
    expect(answers.filter(({ setCookie }) => setCookie !== '')).toHaveLength(1)
    expect((await refresh(gateway, won[0]?.cookie ?? '')).status).toBe(200)
  })

  test('is INVALID_TOKEN for a suspended user, an expired token or an ended session', async () => {
    const { cookie } = await login()
    await suspend()
    expect(refusal(await refresh(gateway, cookie))).toEqual(refused(401, 'INVALID_TOKEN'))
    await gateway.database.query(`UPDATE users SET status = 'active' WHERE id = $1`, [user.id])
    const expired = await login()
    await gateway.database.query(`UPDATE refresh_tokens SET expires_at = now() WHERE user_id = $1`, [user.id])
    expect(refusal(await refresh(gateway, expired.cookie))).toEqual(refused(401, 'INVALID_TOKEN'))
  })
})

describe('the sessions of a user', () => {
  const list = async (token: string) => {
    const response = await request(gateway.app).get('/api/v1/auth/sessions').set('Authorization', `Bearer ${token}`)
    expectAnswer('listSessions', response)
    return response.body.sessions as { id: string; is_current: boolean; client_ip: string; user_agent: string }[]
  }
  const end = (token: string, id: string) => outcome(gateway, token, 'delete', `/auth/sessions/${id}`)

  test('are listed with the address of their last use, and can be ended one by one', async () => {
    const [one, two] = [await login(), await login()]
    await request(gateway.app)
      .post('/api/v1/auth/refresh')
      .set('Cookie', two.cookie)
      .set('User-Agent', 'x'.repeat(1_000))
    const sessions = await list(one.token)
    // The user of the test has another session.
    expect(sessions).toHaveLength(3)
    expect(sessions[0]).toMatchObject({ is_current: false, client_ip: expect.any(String), user_agent: 'x'.repeat(300) })
    expect(sessions.filter(({ is_current }) => is_current)).toHaveLength(1)
    const { body } = await request(gateway.app)
      .delete(`/api/v1/auth/sessions/${sessions[0]?.id}`)
      .set('Authorization', `Bearer ${one.token}`)
    expect(body).toEqual({ message: 'The session has ended' })
    expect(await me(replica, two.token)).toEqual([401, 'INVALID_TOKEN'])
    expect(await me(replica, one.token)).toEqual([200, null])
    expect(await list(one.token)).toHaveLength(2)
    const { rows } = await gateway.database.query(
      `SELECT resource_id FROM audit_records WHERE action = 'session.delete' AND actor_id = $1`,
      [user.id],
    )
    expect(rows).toEqual([{ resource_id: sessions[0]?.id }])
  })

  test('are neither visible to nor ended by other users or API keys', async () => {
    const mine = await login()
    const other = await addUser(gateway, { role: 'admin', password: PASSWORD })
    const [theirs] = await list(other.token)
    expect(await end(mine.token, theirs?.id ?? '')).toEqual([404, 'NOT_FOUND'])
    expect(await end(mine.token, 'none')).toEqual([404, 'NOT_FOUND'])
    const made = await request(gateway.app)
      .post('/api/v1/auth/api-keys')
      .set('Authorization', `Bearer ${mine.token}`)
      .send({ name: 'key' })
    const [session] = await list(mine.token)
    expect(await end(made.body.full_key, session?.id ?? '')).toEqual([403, 'FORBIDDEN'])
    expect(await outcome(gateway, made.body.full_key, 'get', '/auth/sessions')).toEqual([403, 'FORBIDDEN'])
    expect(await end(mine.token, session?.id ?? '')).toEqual([200, null])
    expect(await me(gateway, mine.token)).toEqual([401, 'INVALID_TOKEN'])
  })
})

describe('a logout', () => {
  const logout = (token: string) => outcome(gateway, token, 'post', '/auth/logout')

  test('ends all sessions of the user on all replicas with the next request, but not the API keys', async () => {
    const [one, two] = [await login(), await login()]
    const made = await request(gateway.app)
      .post('/api/v1/auth/api-keys')
      .set('Authorization', `Bearer ${one.token}`)
      .send({ name: 'stays' })
    const other = await addUser(gateway, { role: 'user' })
    const response = await request(gateway.app).post('/api/v1/auth/logout').set('Authorization', `Bearer ${one.token}`)
    expectAnswer('logout', response)
    expect([response.headers['set-cookie']].flat()[0]).toMatch(/^refresh_token=; Max-Age=0; Path=\/api\/v1\/auth;/)
    for (const { token, cookie } of [one, two]) {
      expect(await me(replica, token)).toEqual([401, 'INVALID_TOKEN'])
      expect(refusal(await refresh(replica, cookie))).toEqual(refused(401, 'INVALID_TOKEN'))
    }
    expect(await me(replica, made.body.full_key)).toEqual([200, null])
    expect(await me(replica, other.token)).toEqual([200, null])
    expect((await login()).status).toBe(200)
  })

  test('sends user.revoked to the log-stream service', async () => {
    await logout(user.token)
    const { rows } = await gateway.database.query(`SELECT body FROM outbox WHERE type = 'user.revoked'`)
    expect(rows).toContainEqual({ body: { user_id: user.id } })
  })

  test('ends the session even during a concurrent refresh', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { token, cookie } = await login()
      const [refreshed] = await Promise.all([refresh(replica, cookie), logout(token)])
      if (refreshed.status === 200) {
        expect(await me(gateway, refreshed.token)).toEqual([401, 'INVALID_TOKEN'])
        expect((await refresh(gateway, refreshed.cookie)).status).toBe(401)
      }
    }
  })
})

describe('a new password', () => {
  const change = (token: string, body: object) => outcome(gateway, token, 'post', '/auth/password', body)

  test('ends all sessions except the one that set it', async () => {
    const [own, other] = [await login(), await login()]
    expect(await change(own.token, { current_password: PASSWORD, new_password: NEXT })).toEqual([200, null])
    expect(await me(replica, own.token)).toEqual([200, null])
    expect((await refresh(replica, own.cookie)).status).toBe(200)
    expect(await me(replica, other.token)).toEqual([401, 'INVALID_TOKEN'])
    expect((await refresh(replica, other.cookie)).status).toBe(401)
    expect((await login()).status).toBe(401)
    expect((await loginAs(gateway, user.email, NEXT)).status).toBe(200)
  })

  test('needs the current password, and 12 to 128 characters', async () => {
    expect(await change(user.token, { current_password: 'wrong', new_password: NEXT })).toEqual([
      401,
      'INVALID_CREDENTIALS',
    ])
    for (const new_password of ['x'.repeat(11), 'x'.repeat(129), '🔑'.repeat(11), 12]) {
      expect(await change(user.token, { current_password: PASSWORD, new_password })).toEqual([400, 'VALIDATION_ERROR'])
    }
    expect(await change(user.token, { current_password: PASSWORD })).toEqual([400, 'MISSING_FIELD'])
    expect(await change(user.token, { current_password: PASSWORD, new_password: '🔑'.repeat(12) })).toEqual([200, null])
    expect((await loginAs(gateway, user.email, '🔑'.repeat(12))).status).toBe(200)
  })

  test('does not restore a session that a concurrent logout ended', async () => {
    const own = await login()
    const { passwords } = gateway.dependencies
    const slow = createGateway({
      ...gateway.dependencies,
      passwords: {
        ...passwords,
        async hash(password) {
          await outcome(gateway, own.token, 'post', '/auth/logout')
          return passwords.hash(password)
        },
      },
    })
    const body = { current_password: PASSWORD, new_password: NEXT }
    expect(await outcome(slow, own.token, 'post', '/auth/password', body)).toEqual([200, null])
    expect(await me(gateway, own.token)).toEqual([401, 'INVALID_TOKEN'])
  })

  test('cannot be set by guessing the current password with a stolen token', async () => {
    const codes: unknown[] = []
    for (let attempt = 0; attempt < 11; attempt += 1) {
      codes.push((await change(user.token, { current_password: `wrong ${attempt}`, new_password: NEXT }))[1])
    }
    expect(codes).toEqual([...Array(10).fill('INVALID_CREDENTIALS'), 'AUTH_RATE_LIMIT_EXCEEDED'])
    expect(await change(user.token, { current_password: PASSWORD, new_password: NEXT })).toEqual([
      429,
      'AUTH_RATE_LIMIT_EXCEEDED',
    ])
  })
})

test('a suspended user gets FORBIDDEN, and INVALID_TOKEN after the token was revoked', async () => {
  const { token } = await login()
  await suspend()
  expect(await me(gateway, token)).toEqual([403, 'FORBIDDEN'])
  await gateway.database.query(`UPDATE users SET status = 'active', token_version = token_version + 1 WHERE id = $1`, [
    user.id,
  ])
  expect(await me(gateway, token)).toEqual([401, 'INVALID_TOKEN'])
})
