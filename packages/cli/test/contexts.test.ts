import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeEach, expect, test } from '@jest/globals'
import { sendJson, startFakeServer } from '@slipway/testing'
import { runSlipway } from './slipway.ts'

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'slipway-contexts-'))
const env = { SLIPWAY_URL: undefined, SLIPWAY_TOKEN: undefined, XDG_CONFIG_HOME: folder }
const run = (args: readonly string[], more: Record<string, string> = {}) =>
  runSlipway('', args, { env: { ...env, ...more }, stdin: 'a long password\n' })

type FakeServer = Awaited<ReturnType<typeof startFakeServer>>
let [one, two]: FakeServer[] = []

/** A server that knows the user who logged in to it by a token with the name of the server. */
const startServer = (name: string) =>
  startFakeServer({
    'POST /auth/login': (_, response) => sendJson(response, 200, { access_token: `token of ${name}` }),
    'GET /auth/me': (request, response) => {
      const isKnown = request.headers.authorization === `Bearer token of ${name}`
      const user = { username: name, email: '', display_name: '', roles: [], permissions: [], last_login_at: null }
      sendJson(response, isKnown ? 200 : 401, isKnown ? user : { error: { code: 'INVALID_TOKEN', message: 'unknown' } })
    },
  })

const logIn = (context: string, url: string) =>
  run(['login', '--context', context, '--url', url, '--email', 'ada@example.com', '--password-stdin'])

beforeEach(async () => {
  ;[one, two] = [await startServer('one'), await startServer('two')]
})
afterEach(async () => {
  await one?.close()
  await two?.close()
  fs.rmSync(path.join(folder, 'slipway'), { recursive: true, force: true })
})
afterAll(() => fs.rmSync(folder, { recursive: true }))

const whoIs = async (args: readonly string[] = [], more: Record<string, string> = {}) => {
  const { stdout, stderr } = await run(['whoami', ...args], more)
  return /user:\s+(\w+)/.exec(stdout)?.[1] ?? stderr
}

test('a login creates a context with its own session and selects it', async () => {
  expect((await logIn('first', String(one?.url))).code).toBe(0)
  expect((await logIn('second', String(two?.url))).code).toBe(0)
  expect(await whoIs()).toBe('two')
  expect(await whoIs(['--context', 'first'])).toBe('one')
  expect(await whoIs([], { SLIPWAY_CONTEXT: 'first' })).toBe('one')
  expect((await run(['context', 'use', 'first'])).code).toBe(0)
  expect(await whoIs()).toBe('one')
  const { stdout } = await run(['context', 'list', '-o', 'json'])
  expect(JSON.parse(stdout)).toEqual([
    { name: 'first', url: one?.url, ca_file: null, in_use: true, logged_in: true },
    { name: 'second', url: two?.url, ca_file: null, in_use: false, logged_in: true },
  ])
  expect(stdout).not.toContain('token')
})

test('two contexts of one server have separate logins', async () => {
  await logIn('first', String(one?.url))
  await logIn('second', String(one?.url))
  const file = JSON.parse(fs.readFileSync(path.join(folder, 'slipway/config.json'), 'utf8'))
  file.contexts.second.session.accessToken = 'token of somebody else'
  fs.writeFileSync(path.join(folder, 'slipway/config.json'), JSON.stringify(file), { mode: 0o600 })
  expect(await whoIs(['--context', 'second'])).toContain('unknown')
  expect(await whoIs(['--context', 'first'])).toBe('one')
})

test('a deleted context cannot be used', async () => {
  await logIn('first', String(one?.url))
  expect(await run(['contexts', 'delete', 'first', '--yes'])).toMatchObject({
    code: 0,
    stderr: 'deleted context first\n',
  })
  const { code, stderr } = await run(['whoami', '--context', 'first'])
  expect(stderr).toContain('there is no context "first" (there are: none)')
  expect(code).toBe(2)
})

test('an address together with a context is refused', async () => {
  const { code, stderr } = await run(['whoami', '--context', 'first', '--url', 'http://127.0.0.1:1'])
  expect(stderr).toContain('--url and --context both name a server')
  expect(code).toBe(2)
})

test('a login at another server than Slipway stores nothing', async () => {
  const other = await startFakeServer({
    'POST /auth/login': (_, response) => sendJson(response, 200, { status: 'ok' }),
  })
  const login = ['login', '--context', 'other', '--url', other.url, '--email', 'ada@example.com', '--password-stdin']
  const { code, stderr } = await run(login)
  await other.close()
  expect([code, stderr]).toEqual([6, expect.stringContaining('answers, but is not Slipway')])
  expect((await run(['context', 'list', '-o', 'name'])).stdout).not.toContain('other')
})

test('a configuration file that other users can read is refused', async () => {
  await logIn('first', String(one?.url))
  const file = path.join(folder, 'slipway/config.json')
  expect(fs.statSync(file).mode & 0o777).toBe(0o600)
  fs.chmodSync(file, 0o644)
  const { code, stderr } = await run(['whoami'])
  expect([code, stderr]).toEqual([3, expect.stringContaining('chmod 600')])
})
