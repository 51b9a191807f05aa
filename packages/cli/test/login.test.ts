// Logins in the browser. The server below does what the gateway promises, and the browser of the test makes real requests.
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, expect, test } from '@jest/globals'
import { type RouteHandler, sendJson, startFakeServer } from '@slipway/testing'
import { type RunOptions, startSlipway } from './slipway.ts'

const CODE = 'code-of-one-minute'
const COMPANY = { id: 'company', name: 'Company', login_path: '/api/v1/auth/oidc/company/start' }
const PARTNER = { id: 'partner', name: 'Partner', login_path: '/api/v1/auth/oidc/partner/start' }

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'slipway-login-'))
const configuration = path.join(folder, 'slipway/config.json')
let server: Awaited<ReturnType<typeof startFakeServer>> | undefined

afterEach(async () => {
  await server?.close()
  server = undefined
  fs.rmSync(path.dirname(configuration), { recursive: true, force: true })
})
afterAll(() => fs.rmSync(folder, { recursive: true }))

interface Providers {
  password_login?: boolean
  providers?: readonly object[]
}

async function startServer({ password_login = true, providers = [COMPANY] }: Providers = {}): Promise<string> {
  let challenge: string | null = null
  const begin: RouteHandler = ({ url = '' }, response) => {
    const query = new URL(url, 'http://fake').searchParams
    challenge = query.get('code_challenge')
    const end = new URLSearchParams({ code: CODE, state: query.get('state') ?? '' })
    response.writeHead(302, { location: `http://127.0.0.1:${query.get('cli_port')}/?${end}` }).end()
  }
  server = await startFakeServer({
    'GET /auth/providers': (_, response) => sendJson(response, 200, { password_login, providers }),
    'GET /auth/oidc/company/start': begin,
    'GET /auth/oidc/partner/start': begin,
    'POST /auth/cli-token': (_, response, body) => {
      const { code, code_verifier } = body as Record<string, string>
      const fits = createHash('sha256').update(String(code_verifier)).digest('base64url') === challenge
      if (code !== CODE || !fits) {
        sendJson(response, 401, { error: { code: 'INVALID_TOKEN', message: 'the code is not valid' } })
        return
      }
      response.setHeader('set-cookie', 'refresh_token=refresh; HttpOnly; Path=/api/v1/auth')
      sendJson(response, 200, { access_token: 'access', user: { username: 'ada', email: 'ada@example.com' } })
    },
    'GET /auth/sessions': (_, response) =>
      sendJson(response, 200, { sessions: ['other', 'this'].map((id) => ({ id, is_current: id === 'this' })) }),
    'DELETE /auth/sessions/this': (_, response) => sendJson(response, 200, { message: 'ended' }),
    'POST /auth/logout': (_, response) => sendJson(response, 200, { message: 'ended' }),
    'POST /auth/login': (_, response) => sendJson(response, 200, { access_token: 'by password' }),
  })
  return server.url
}

const start = (url: string, args: readonly string[], options: RunOptions = {}) =>
  startSlipway(['login', ...args], { ...options, env: { SLIPWAY_URL: url, XDG_CONFIG_HOME: folder } })

/** Follows the login to its end, as a browser does. Keeps the last page. */
function createBrowser() {
  const pages: { status: number; headers: Headers; text: string }[] = []
  const opened: string[] = []
  const openBrowser = async (address: string) => {
    opened.push(address)
    const response = await fetch(address)
    pages.push({ status: response.status, headers: response.headers, text: await response.text() })
  }
  return { pages, opened, openBrowser }
}

/** The address that a login without a browser prints. */
async function findAddress({ stderr }: { stderr(): string }): Promise<URL> {
  for (;;) {
    const [address] = /http:\S+code_challenge\S+/.exec(stderr()) ?? []
    if (address !== undefined) return new URL(address)
    await new Promise((resolve) => setImmediate(resolve))
  }
}

const readSessions = () => JSON.parse(fs.readFileSync(configuration, 'utf8')).sessions

test('a login in the browser stores the session, and its page holds no secret', async () => {
  const url = await startServer()
  const { pages, opened, openBrowser } = createBrowser()
  const { code, stderr } = await start(url, [], { openBrowser }).ended
  expect([code, stderr]).toEqual([0, expect.stringContaining(`logged in to ${url} as ada@example.com`)])
  expect(readSessions()).toEqual({ [url]: { accessToken: 'access', refreshToken: 'refresh' } })
  const [page] = pages
  expect(page).toMatchObject({ status: 200, text: expect.stringContaining('You can close this page') })
  expect(page?.headers.get('cache-control')).toBe('no-store')
  expect(page?.text).not.toContain(CODE)
  // Nothing listens any more.
  const port = new URL(String(opened)).searchParams.get('cli_port')
  await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow()
})

test('with --no-browser, visitors without the state of the login do not end it', async () => {
  const url = await startServer()
  const { openBrowser, opened } = createBrowser()
  const running = start(url, ['--no-browser'], { openBrowser })
  const address = await findAddress(running)
  const loopback = `http://127.0.0.1:${address.searchParams.get('cli_port')}`
  for (const wrong of ['/?code=x', '/?code=x&state=y', `/?state=${address.searchParams.get('state')}`]) {
    expect((await fetch(loopback + wrong)).status).toBe(400)
  }
  expect((await fetch(`${loopback}/favicon.ico`)).status).toBe(404)
  expect((await fetch(address)).status).toBe(200)
  expect(await running.ended).toMatchObject({ code: 0 })
  expect(opened).toEqual([])
})

test('a browser on another machine ends a login by the address of its last page', async () => {
  const url = await startServer()
  const running = start(url, [], { isTerminal: true })
  const address = await findAddress(running)
  const last = String((await fetch(address, { redirect: 'manual' })).headers.get('location'))
  running.type(`${last.replace(/state=.*/, 'state=other')}\r`)
  running.type(`${last}\r`)
  const { code, stderr } = await running.ended
  expect(stderr).toContain('no browser can be opened here')
  expect(stderr).toContain('this login did not end at this address')
  expect(code).toBe(0)
})

test('several providers need --provider', async () => {
  const url = await startServer({ providers: [COMPANY, PARTNER] })
  const { openBrowser, opened } = createBrowser()
  const refused = await start(url, [], { openBrowser }).ended
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('company (Company), partner (Partner)') })
  const unknown = await start(url, ['--provider', 'other'], { openBrowser }).ended
  expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('no provider "other"') })
  expect(opened).toEqual([])
  expect(await start(url, ['--provider', 'partner'], { openBrowser }).ended).toMatchObject({ code: 0 })
  expect(opened).toEqual([expect.stringContaining('/auth/oidc/partner/start?')])
})

test('a login that nobody ends exits with 5 after --timeout, and with 130 after Ctrl-C', async () => {
  const url = await startServer()
  const late = await start(url, ['--no-browser', '--timeout', '1ms']).ended
  expect(late).toMatchObject({ code: 5, stderr: expect.stringContaining('run `slipway login` again') })
  const running = start(url, ['--no-browser'])
  await findAddress(running)
  running.interrupt()
  expect(await running.ended).toMatchObject({ code: 130 })
  expect(fs.existsSync(configuration)).toBe(false)
})

const WITH_PASSWORD = ['--email', 'ada@example.com', '--password-stdin']

test.each([
  ['the server has no providers', { providers: [] }, WITH_PASSWORD, ''],
  ['a password is given', {}, WITH_PASSWORD, ''],
  ['password logins are switched off', { password_login: false }, WITH_PASSWORD, 'only users with "break_glass"'],
])('the password is used if %s', async (_, providers, args, message) => {
  const url = await startServer(providers)
  const { code, stderr } = await start(url, args, { stdin: 'a long password\n' }).ended
  expect([code, stderr]).toEqual([0, expect.stringContaining(message)])
  expect(readSessions()[url]).toEqual({ accessToken: 'by password' })
})

test.each([
  [['logout'], 'DELETE /auth/sessions/this', 'POST /auth/logout'],
  [['logout', '--all'], 'POST /auth/logout', 'DELETE /auth/sessions/this'],
])('%j ends what it names, and forgets the session', async (args, called, spared) => {
  const url = await startServer({ providers: [] })
  await start(url, WITH_PASSWORD, { stdin: 'a long password\n' }).ended
  const env = { SLIPWAY_URL: url, SLIPWAY_TOKEN: '', XDG_CONFIG_HOME: folder }
  expect(await startSlipway(args, { env }).ended).toMatchObject({ code: 0 })
  expect([server?.count(called), server?.count(spared)]).toEqual([1, 0])
  expect(readSessions()[url]).toBeUndefined()
})
