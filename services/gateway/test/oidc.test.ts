import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { LOGIN_ERRORS } from '@slipway/contracts'
import { hashToken, randomToken } from '@slipway/runtime'
import { cliCodeKey, oidcLoginKey } from '@slipway/runtime/redis'
import { keptLog, waitFor } from '@slipway/testing'
import { openBrowser, startOidcProvider } from '@slipway/testing/oidc'
import request from 'supertest'
import { reportUnknownNames } from '../src/login-providers/names-report.ts'
import { me } from './credentials.ts'
import {
  accessToken,
  currentUser,
  isCallback,
  lastLogin,
  logIn,
  person,
  type Stage,
  startStage,
  startUrl,
} from './oidc-stage.ts'
import { ADMIN, addTenant, addUser, type Client, clientOf, refusal, refused } from './setup.ts'

const PASSWORD = 'a-password-that-is-right'

let stage: Stage

beforeAll(async () => {
  stage = await startStage()
})
afterAll(async () => await stage.close())

/** A new person at the first provider. */
function joined(username: string, claims: Record<string, unknown> = {}) {
  const user = person(username, claims)
  stage.first.users.push(user)
  return user
}

const rowOf = async (username: string) => {
  const { rows } = await stage.gateway.database.query<{ id: string; [column: string]: unknown }>(
    'SELECT * FROM users WHERE username = $1',
    [username],
  )
  return rows[0]
}

const admin = () => clientOf(stage.gateway, stage.gateway.adminToken)

describe('a first login', () => {
  test('makes the user, and the browser has a session', async () => {
    const ada = joined('ada', { email: 'Ada@Example.com', email_verified: true, name: 'Ada Lovelace' })
    const { browser, end } = await logIn(stage, ada, '?return_to=/deployments%3Fstate=running')
    expect(`${end.url.pathname}${end.url.search}`).toBe('/deployments?state=running')
    expect(await currentUser(stage, browser)).toMatchObject({
      email: 'ada@example.com',
      email_verified: true,
      username: 'ada',
      display_name: 'Ada Lovelace',
      roles: ['operator'],
      tenant_id: null,
    })
    const { body } = await admin().send('getUser', `/admin/users/${(await rowOf('ada'))?.id}`)
    expect(body).toMatchObject({ kind: 'person', identity: { provider: 'first', subject: 'ada' } })
    expect(await lastLogin(stage)).toMatchObject({
      actor_name: 'ada',
      resource_id: body.id,
      details: { provider: 'first', created: true, changes: { roles: { from: [], to: ['operator'] } } },
    })
    const { rows } = await stage.gateway.database.query('SELECT identity_provider FROM sessions WHERE user_id = $1', [
      body.id,
    ])
    expect(rows).toEqual([{ identity_provider: 'first' }])
  })

  test('sets a refresh cookie that only pages of this site send, and removes the cookie of the login', async () => {
    const { browser } = await logIn(stage, joined('cookies'))
    const cookies = await browser.jar.getCookies(`${stage.base}/api/v1/auth/oidc`)
    expect(cookies.map(({ key, sameSite, httpOnly, path }) => ({ key, sameSite, httpOnly, path }))).toEqual([
      { key: 'refresh_token', sameSite: 'strict', httpOnly: true, path: '/api/v1/auth' },
    ])
    expect((await accessToken(stage, browser)).status).toBe(200)
  })

  test('takes the address as name without a user name, and a number where the name is taken', async () => {
    const { id } = await addUser(stage.gateway, { role: 'user' })
    await stage.gateway.database.query(`UPDATE users SET username = 'GRACE', name_key = 'grace' WHERE id = $1`, [id])
    await logIn(stage, joined('grace'))
    await logIn(stage, joined('other', { preferred_username: 'Grace' }))
    await logIn(stage, joined('nameless', { preferred_username: undefined, email: 'x@example.com' }))
    expect(await rowOf('grace2')).toMatchObject({ name_key: 'grace2' })
    expect(await rowOf('Grace3')).toMatchObject({ name_key: 'grace3' })
    expect(await rowOf('x@example.com')).toMatchObject({ email: 'x@example.com', email_verified: false })
  })

  test('needs no e-mail', async () => {
    const { browser } = await logIn(stage, joined('silent'))
    expect(await currentUser(stage, browser)).toMatchObject({ username: 'silent', email: null, email_verified: false })
  })

  test('leads back to a path with any text', async () => {
    const { end } = await logIn(stage, joined('text'), `?${new URLSearchParams({ return_to: '/名?search=ü' })}`)
    expect(end.url.href).toBe(new URL('/名?search=ü', stage.base).href)
  })

  test('makes one user when two browsers log in at once', async () => {
    const twin = joined('twin')
    const logins = await Promise.all([logIn(stage, twin), logIn(stage, twin), logIn(stage, twin)])
    expect(logins.map(({ error }) => error)).toEqual([null, null, null])
    const { rows } = await stage.gateway.database.query(`SELECT user_id FROM identities WHERE subject = 'twin'`)
    expect(rows).toHaveLength(1)
  })
})

describe('the account of a user', () => {
  test('is found by issuer and subject, not by address or name', async () => {
    const mover = joined('mover', { email: 'before@example.com' })
    await logIn(stage, mover)
    Object.assign(mover.claims, { email: 'after@example.com', preferred_username: 'another' })
    const { browser } = await logIn(stage, mover)
    expect(await currentUser(stage, browser)).toMatchObject({ username: 'mover', email: 'before@example.com' })
    stage.second.users.push(person('mover'))
    const other = await logIn(stage, person('mover'), '', 'second')
    expect(await currentUser(stage, other.browser)).toMatchObject({ username: 'mover2' })
    stage.second.users.push(person('namesake', { email: 'before@example.com', email_verified: true }))
    expect((await logIn(stage, person('namesake'), '', 'second')).error).toBe('address_taken')
  })

  test('is refused where another account has the address, unless the provider links by address', async () => {
    const { id, email } = await addUser(stage.gateway, { role: 'user' })
    const claims = { email, email_verified: true }
    const linked = joined('linked', claims)
    expect((await logIn(stage, linked)).error).toBe('address_taken')
    expect(await lastLogin(stage)).toMatchObject({
      resource_id: id,
      details: { outcome: 'refused', provider: 'first', login_error: 'address_taken' },
    })
    const entry = stage.configured[0]
    if (entry === undefined) throw new Error('no provider')
    entry.link_by_email = true
    linked.claims['email_verified'] = false
    expect((await logIn(stage, linked)).error).toBe('address_taken')
    linked.claims['email_verified'] = 'true'
    expect((await logIn(stage, linked)).error).toBe('address_taken')
    linked.claims['email_verified'] = true
    const { browser, error } = await logIn(stage, linked)
    expect(error).toBeNull()
    expect(await currentUser(stage, browser)).toMatchObject({ id, roles: ['operator'] })
    expect((await logIn(stage, joined('thief', claims))).error).toBe('address_taken')
    const administrator = joined('administrator', { email: ADMIN.email, email_verified: true })
    expect((await logIn(stage, administrator)).error).toBe('address_taken')
    entry.link_by_email = false
  })

  describe('that somebody else prepared for an address', () => {
    const setLink = (isOn: boolean) => {
      for (const entry of stage.configured) entry.link_by_email = isOn
    }
    beforeAll(() => setLink(true))
    afterAll(() => setLink(false))

    /** An account of the address of `username`, with every credential that an account may have. */
    async function prepared(username: string, fields: { break_glass?: boolean; tenant_id?: string } = {}) {
      const { break_glass = false, ...given } = fields
      const account = await addUser(stage.gateway, { role: 'user', password: PASSWORD, ...given })
      const key = await clientOf(stage.gateway, account.token).send('createApiKey', '/auth/api-keys', { name: 'kept' })
      expect(key.status).toBe(201)
      await stage.gateway.database.query(
        `UPDATE users SET totp_sealed = 'sealed', totp_enabled = true, break_glass = $2 WHERE id = $1`,
        [account.id, break_glass],
      )
      await stage.gateway.database.query(`INSERT INTO recovery_codes (user_id, code_hash) VALUES ($1, 'a hash')`, [
        account.id,
      ])
      const boss = joined(username, { email: account.email, email_verified: true })
      return { ...account, boss, key: key.body.full_key as string }
    }
    const credentialsOf = async (id: string) => {
      const { rows } = await stage.gateway.database.query(
        `SELECT password_hash IS NOT NULL AS password, totp_enabled, totp_sealed IS NOT NULL AS totp_sealed,
           (SELECT count(*)::int FROM recovery_codes c WHERE c.user_id = u.id) AS codes,
           (SELECT count(*)::int FROM api_keys k WHERE k.user_id = u.id) AS keys
          FROM users u WHERE id = $1`,
        [id],
      )
      return rows[0]
    }

    test('loses every credential of before when it is linked', async () => {
      const { id, boss, token, key } = await prepared('boss')
      expect(await me(stage.gateway, key)).toEqual([200, null])
      const { browser, error } = await logIn(stage, boss)
      expect(error).toBeNull()
      expect(await credentialsOf(id)).toEqual({
        password: false,
        totp_enabled: false,
        totp_sealed: false,
        codes: 0,
        keys: 0,
      })
      expect(await me(stage.gateway, token)).toEqual([401, 'INVALID_TOKEN'])
      expect((await me(stage.gateway, key))[0]).toBe(401)
      expect(await currentUser(stage, browser)).toMatchObject({ id, roles: ['operator'] })
      expect(await lastLogin(stage)).toMatchObject({
        resource_id: id,
        details: { linked: true, ended: ['sessions', 'password', 'second_factor', 'api_keys'] },
      })
    })

    test('gets no key from a call at the same moment', async () => {
      const { id, token } = await prepared('hasty')
      const { database } = stage.gateway
      let key: ReturnType<Client['send']> | undefined
      await database.transaction(async (tx) => {
        // As a login that links.
        await tx.query('SELECT FROM users WHERE id = $1 FOR UPDATE', [id])
        await tx.query('UPDATE users SET token_version = token_version + 1 WHERE id = $1', [id])
        key = clientOf(stage.gateway, token).send('createApiKey', '/auth/api-keys', { name: 'late' })
        await waitFor(async () => {
          const waiting = 'SELECT FROM pg_locks WHERE NOT granted AND transactionid = pg_current_xact_id()::xid'
          const { rows } = await tx.query(waiting)
          return rows.length > 0
        })
        await tx.query('DELETE FROM api_keys WHERE user_id = $1', [id])
      })
      expect(refusal((await key) as never)).toEqual(refused(401, 'INVALID_TOKEN'))
      expect(await credentialsOf(id)).toMatchObject({ keys: 0 })
    })

    test('keeps the password and its second factor with break_glass', async () => {
      const { id, boss } = await prepared('emergency', { break_glass: true })
      expect((await logIn(stage, boss)).error).toBeNull()
      expect(await credentialsOf(id)).toEqual({
        password: true,
        totp_enabled: true,
        totp_sealed: true,
        codes: 1,
        keys: 0,
      })
      expect((await lastLogin(stage))?.details).toMatchObject({ ended: ['sessions', 'api_keys'] })
    })

    test('is not linked in another tenant than that of the rules', async () => {
      const tenant = await addTenant(stage.gateway, 'Elsewhere')
      const { id, boss } = await prepared('outsider', { tenant_id: tenant.id })
      expect((await logIn(stage, boss)).error).toBe('address_taken')
      expect(await credentialsOf(id)).toMatchObject({ password: true, keys: 1 })
    })
  })

  test('gets roles and tenant anew at each login', async () => {
    const tenant = await admin().send('createTenant', '/tenants', { name: 'Shop', slug: 'shop' })
    const changing = joined('changing', { groups: ['deployers', 'readers'] })
    const { browser } = await logIn(stage, changing)
    expect((await currentUser(stage, browser)).roles).toEqual(['operator', 'user'])
    changing.claims['groups'] = ['readers']
    await logIn(stage, changing)
    expect((await currentUser(stage, browser)).roles).toEqual(['user'])
    stage.configured[0]?.rules.push({ claim: 'department', value: 'shop', roles: ['user'], tenant: 'shop' })
    changing.claims['department'] = 'shop'
    const moved = await logIn(stage, changing)
    expect(await currentUser(stage, moved.browser)).toMatchObject({ roles: ['user'], tenant_id: tenant.body.id })
    expect(await accessToken(stage, browser)).toMatchObject({ status: 401 })
    changing.claims['groups'] = []
    changing.claims['department'] = ''
    expect((await logIn(stage, changing)).error).toBe('no_rights')
    expect((await accessToken(stage, moved.browser)).status).toBe(200)
  })

  test('gets bindings in scopes from rules that name environments and solutions', async () => {
    const environment = await admin().send('createEnvironment', '/environments', { name: 'staging' })
    stage.configured[0]?.rules.push({
      claim: 'department',
      value: 'testers',
      roles: ['operator'],
      environments: ['staging'],
    })
    const tester = joined('tester', { groups: [], department: 'testers' })
    expect((await logIn(stage, tester)).error).toBeNull()
    const bindings = () =>
      stage.gateway.database.query(
        `SELECT r.name, b.environment_ids, b.solution_ids FROM role_bindings b
           JOIN roles r ON r.id = b.role_id JOIN users u ON u.id = b.user_id WHERE u.username = 'tester'`,
      )
    expect((await bindings()).rows).toEqual([
      { name: 'operator', environment_ids: [environment.body.id], solution_ids: null },
    ])
    tester.claims['groups'] = ['readers']
    tester.claims['department'] = ''
    await logIn(stage, tester)
    expect((await bindings()).rows).toEqual([])
  })

  test('is refused while it is suspended', async () => {
    const suspended = joined('suspended')
    await logIn(stage, suspended)
    const id = (await rowOf('suspended'))?.id
    await admin().send('updateUser', `/admin/users/${id}`, { status: 'suspended' })
    expect((await logIn(stage, suspended)).error).toBe('account_inactive')
  })

  test('keeps roles and tenant against a change by an administrator', async () => {
    await logIn(stage, joined('managed'))
    const path = `/admin/users/${(await rowOf('managed'))?.id}`
    expect(refusal(await admin().send('updateUser', path, { roles: ['user'] }))).toEqual(refused(409, 'CONFLICT'))
    const { body } = await admin().send('createTenant', '/tenants', { name: 'Other', slug: 'other' })
    expect(refusal(await admin().send('updateUser', path, { tenant_id: body.id }))).toEqual(refused(409, 'CONFLICT'))
    const unchanged = { display_name: 'Managed', tenant_id: null, roles: ['operator'] }
    expect((await admin().send('updateUser', path, unchanged)).status).toBe(200)
  })

  test('gets a password from an administrator only with break_glass', async () => {
    await logIn(stage, joined('passwordless'))
    const { id } = (await rowOf('passwordless')) ?? {}
    const change = (body: object) => admin().send('updateUser', `/admin/users/${id}`, body)
    const password = PASSWORD
    expect(refusal(await change({ password }))).toEqual(refused(409, 'CONFLICT'))
    expect(await rowOf('passwordless')).toMatchObject({ password_hash: null })
    expect((await change({ password, break_glass: true })).status).toBe(200)
    expect((await change({ password: `${password}-2` })).status).toBe(200)
    expect(refusal(await change({ password, break_glass: false }))).toEqual(refused(409, 'CONFLICT'))
  })

  test('stays the last administrator', async () => {
    const only = joined('only', { groups: ['admins'] })
    await logIn(stage, only)
    await stage.gateway.database.query(`UPDATE users SET status = 'inactive' WHERE email = $1`, [ADMIN.email])
    only.claims['groups'] = ['readers']
    expect((await logIn(stage, only)).error).toBe('last_admin')
    await stage.gateway.database.query(`UPDATE users SET status = 'active' WHERE email = $1`, [ADMIN.email])
    expect((await logIn(stage, only)).error).toBeNull()
  })
})

describe('rules', () => {
  test('that name what does not exist refuse the users whom they fit', async () => {
    const missing = [
      ['unknown_role', { roles: ['nothing'] }],
      ['unknown_tenant', { roles: ['user'], tenant: 'nowhere' }],
      ['unknown_environment', { roles: ['user'], environments: ['nowhere'] }],
      ['unknown_solution', { roles: ['user'], solutions: ['nothing'] }],
    ] as const
    for (const [error, rule] of missing) {
      stage.configured[0]?.rules.push({ claim: 'department', value: error, ...structuredClone(rule) } as never)
      expect((await logIn(stage, joined(`of-${error}`, { department: error }))).error).toBe(error)
      expect(await rowOf(`of-${error}`)).toBeUndefined()
    }
  })

  test('are reported when they name what does not exist', async () => {
    const { logger, written } = keptLog()
    const [entry] = stage.configured
    if (entry === undefined) throw new Error('no provider')
    const rules = [
      { claim: 'a', value: 'b', roles: ['user', 'no-role'], tenant: 'no-tenant' },
      { claim: 'a', value: 'b', roles: ['user'], environments: ['no-environment'], solutions: ['no-solution'] },
    ]
    await reportUnknownNames(stage.gateway.asGateway, [{ ...entry, rules }], logger)
    const unknown = ['role no-role', 'tenant no-tenant', 'environment no-environment', 'solution no-solution']
    expect(JSON.parse(written())).toMatchObject({ level: 'warn', provider: 'first', unknown })
  })

  test('read a claim with 500 entries', async () => {
    const groups = Array.from({ length: 499 }, (_, index) => `group ${index}`)
    const { browser } = await logIn(stage, joined('busy', { groups: [...groups, 'readers'] }))
    expect((await currentUser(stage, browser)).roles).toEqual(['user'])
  })
})

describe('an answer of a provider is refused', () => {
  /** Logs in up to the callback, which is not opened. */
  async function untilCallback(username: string, change: (start: URL) => void = () => {}) {
    const browser = openBrowser()
    const toProvider = await browser.visit(startUrl(stage), { until: ({ hostname }) => hostname === 'localhost' })
    change(toProvider.url)
    const { url } = await browser.logIn(toProvider.url, joined(username), { until: isCallback })
    return { browser, url }
  }
  const errorOf = async (browser: ReturnType<typeof openBrowser>, url: URL) =>
    (await browser.visit(url)).url.searchParams.get('error')

  test('with another nonce', async () => {
    const { browser, url } = await untilCallback('nonce', ({ searchParams }) => searchParams.set('nonce', 'another'))
    expect(await errorOf(browser, url)).toBe('invalid_answer')
  })

  test('with another challenge', async () => {
    const challenge = createHash('sha256').update('another').digest('base64url')
    const { browser, url } = await untilCallback('pkce', ({ searchParams }) =>
      searchParams.set('code_challenge', challenge),
    )
    expect(await errorOf(browser, url)).toBe('invalid_answer')
  })

  test('with an unknown, changed or missing state, and is then used up', async () => {
    const { browser, url } = await untilCallback('state')
    const changed = new URL(url)
    changed.searchParams.set('state', randomToken())
    expect(await errorOf(browser, changed)).toBe('login_expired')
    changed.searchParams.delete('state')
    expect(await errorOf(browser, changed)).toBe('login_expired')
    expect(await errorOf(browser, url)).toBeNull()
    expect(await errorOf(browser, url)).toBe('login_expired')
  })

  test('with the code of another login', async () => {
    const one = await untilCallback('code')
    const other = await untilCallback('other-code')
    one.url.searchParams.set('code', other.url.searchParams.get('code') ?? '')
    expect(await errorOf(one.browser, one.url)).toBe('invalid_answer')
  })

  test('in another browser', async () => {
    const { url } = await untilCallback('victim')
    expect(await errorOf(openBrowser(), url)).toBe('other_browser')
    const attacker = await untilCallback('attacker')
    const victim = await untilCallback('victim-2')
    expect(await errorOf(victim.browser, attacker.url)).toBe('other_browser')
  })

  test('after ten minutes', async () => {
    const { browser, url } = await untilCallback('late')
    const key = oidcLoginKey(stage.gateway.namespace, hashToken(url.searchParams.get('state') ?? ''))
    const seconds = await stage.gateway.redis.ttl(key)
    expect(seconds).toBeGreaterThan(0)
    expect(seconds).toBeLessThanOrEqual(600)
    await stage.gateway.redis.expire(key, 0)
    expect(await errorOf(browser, url)).toBe('login_expired')
  })

  test('at the callback of another provider', async () => {
    const { browser, url } = await untilCallback('mixed')
    url.pathname = url.pathname.replace('first', 'second')
    expect(await errorOf(browser, url)).toBe('invalid_answer')
  })

  test('with the issuer of another provider', async () => {
    const { browser, url } = await untilCallback('issuer')
    url.searchParams.set('iss', stage.second.issuer)
    expect(await errorOf(browser, url)).toBe('invalid_answer')
  })

  test('if it is an error, whose text nobody is shown', async () => {
    const browser = openBrowser()
    const page = await browser.visit(startUrl(stage))
    const end = await browser.visit(page.url, { form: { cancel: '1' } })
    expect(end.url.href).toBe(`${stage.base}/login?error=provider_refused&provider=first`)
  })

  test('in two tabs only for the login that failed', async () => {
    const browser = openBrowser()
    const user = joined('tabs')
    const one = await browser.logIn(startUrl(stage), user, { until: isCallback })
    const two = await browser.logIn(startUrl(stage), user, { until: isCallback })
    expect([await errorOf(browser, one.url), await errorOf(browser, two.url)]).toEqual([null, null])
  })
})

describe('a start', () => {
  const start = (query: Record<string, string>) =>
    request(stage.gateway.app).get('/api/v1/auth/oidc/first/start').query(query)
  const challenge = createHash('sha256').update('verifier').digest('base64url')

  test('leads only to paths of this server', async () => {
    const others = [
      'https://evil.example',
      '//evil.example',
      '/\\evil.example',
      '\\\\evil.example',
      '/.//evil.example',
      '/x/..//evil.example',
      '/%2f%2fevil.example',
      '/%5Cevil.example',
      '/%252fevil.example',
      '/\tevil',
      '/%0d%0aSet-Cookie:x=y',
      'javascript:alert(1)',
      'deployments',
      ' /deployments',
    ]
    for (const return_to of others) {
      expect({ return_to, ...refusal(await start({ return_to })) }).toMatchObject({ return_to, status: 400 })
    }
    for (const return_to of ['/', '/deployments?state=running&search=a%2Fb', '/queue/1#last', '/a%20b/%C3%BC/ü']) {
      expect({ return_to, status: (await start({ return_to })).status }).toEqual({ return_to, status: 302 })
    }
  })

  test('takes all parameters of a program, and a port that programs may use', async () => {
    const all = { cli_port: '49152', code_challenge: challenge, state: 'abc' }
    const wrong = [
      { ...all, cli_port: '80' },
      { ...all, cli_port: '1023' },
      { ...all, cli_port: '65536' },
      { ...all, code_challenge: 'short' },
      { ...all, return_to: '/' },
      { cli_port: '49152', code_challenge: challenge },
      { cli_port: '49152', state: 'abc' },
      { state: 'abc' },
    ]
    for (const query of wrong) expect({ query, status: (await start(query)).status }).toEqual({ query, status: 400 })
    expect((await start(all)).status).toBe(302)
  })

  test('at an unknown provider is 404', async () => {
    const answer = await request(stage.gateway.app).get('/api/v1/auth/oidc/third/start')
    expect(refusal(answer)).toEqual(refused(404, 'NOT_FOUND'))
  })

  test('asks with PKCE, state and nonce, and binds the login to the browser', async () => {
    const { headers } = await start({})
    expect(Object.fromEntries(new URL(headers['location'] ?? '').searchParams)).toMatchObject({
      redirect_uri: `${stage.base}/api/v1/auth/oidc/first/callback`,
      code_challenge_method: 'S256',
      state: expect.stringMatching(/^.{43}$/),
      nonce: expect.stringMatching(/^.{43}$/),
    })
    expect(headers['set-cookie']).toEqual([
      expect.stringMatching(/^oidc_login=.{43}; Max-Age=600; Path=\/api\/v1\/auth\/oidc; HttpOnly; SameSite=Lax$/),
    ])
  })
})

describe('a login of a program', () => {
  const verifier = randomToken()
  const query = `?cli_port=49152&state=of-the-program&code_challenge=${createHash('sha256').update(verifier).digest('base64url')}`
  const atProgram = ({ port }: URL) => port === '49152'

  async function codeOf(username: string) {
    const browser = openBrowser()
    const { url } = await browser.logIn(startUrl(stage, 'first', query), joined(username), { until: atProgram })
    return { browser, url, code: url.searchParams.get('code') ?? '' }
  }
  const redeem = (code: string, code_verifier = verifier) =>
    request(stage.gateway.app).post('/api/v1/auth/cli-token').send({ code, code_verifier })
  const invalid = refused(401, 'INVALID_TOKEN')

  test('brings the program a code, and only the program gets the session', async () => {
    const { browser, url, code } = await codeOf('program')
    expect(url.href).toBe(`http://127.0.0.1:49152/?code=${code}&state=of-the-program`)
    expect((await accessToken(stage, browser)).status).toBe(401)
    const { status, body, headers } = await redeem(code)
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { token_type: 'Bearer', expires_in: 3_600, user: { username: 'program', roles: ['operator'] } },
    })
    expect(headers['set-cookie']?.[0]).toMatch(/^refresh_token=/)
    expect(await me(stage.gateway, body.access_token)).toEqual([200, null])
    expect(refusal(await redeem(code))).toEqual(invalid)
  })

  test('needs the verifier, within a minute, and the user as in the browser', async () => {
    const guessed = await codeOf('guessed')
    expect(refusal(await redeem(guessed.code, randomToken()))).toEqual(invalid)
    expect(refusal(await redeem(guessed.code))).toEqual(invalid)

    const late = await codeOf('late-program')
    const key = cliCodeKey(stage.gateway.namespace, hashToken(late.code))
    expect(await stage.gateway.redis.ttl(key)).toBeLessThanOrEqual(60)
    await stage.gateway.redis.expire(key, 0)
    expect(refusal(await redeem(late.code))).toEqual(invalid)

    const ended = await codeOf('ended')
    await stage.gateway.database.query(`UPDATE users SET token_version = token_version + 1 WHERE username = 'ended'`)
    expect(refusal(await redeem(ended.code))).toEqual(invalid)
  })
})

test('who is logged in stays so while the provider is away, and the login page says why nobody else can', async () => {
  const user = person('stays')
  const away = await startOidcProvider({
    users: [user],
    clients: [
      {
        client_id: 'slipway',
        client_secret: stage.configured[0]?.client_secret ?? '',
        redirect_uris: [`${stage.base}/api/v1/auth/oidc/away/callback`],
      },
    ],
  })
  const [entry] = stage.configured
  if (entry === undefined) throw new Error('no provider')
  stage.configured.push({ ...entry, id: 'away', issuer: away.issuer })
  const { browser } = await logIn(stage, user, '', 'away')
  const waiting = openBrowser()
  const callback = await waiting.logIn(startUrl(stage, 'away'), user, { until: isCallback })
  await away.close()
  expect((await accessToken(stage, browser)).status).toBe(200)
  expect((await logIn(stage, user, '', 'away')).end.url.href).toBe(
    `${stage.base}/login?error=provider_unavailable&provider=away`,
  )
  const end = await waiting.visit(callback.url)
  expect(end.url.searchParams.get('error')).toBe('provider_unavailable')
})

test('the providers are listed without their secrets', async () => {
  const { body } = await request(stage.gateway.app).get('/api/v1/auth/providers')
  expect(body.password_login).toBe(true)
  expect(body.providers[0]).toEqual({
    id: 'first',
    name: 'The first provider',
    login_path: '/api/v1/auth/oidc/first/start',
  })
})

test('each error of a login has a sentence', () => {
  expect(Object.values(LOGIN_ERRORS).filter((sentence) => !/^[A-Z].*\.$/.test(sentence))).toEqual([])
})
