// The program `slipway` logs in with a browser at a real provider.
import { type ChildProcess, spawn } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { repositoryRoot, type Suite, startSuite, waitFor } from '@slipway/testing'
import { type OidcProvider, openBrowser, startOidcProvider } from '@slipway/testing/oidc'
import { runProgram } from './programs.ts'

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'slipway-browser-login-'))
const program = path.join(repositoryRoot, 'packages/cli/bin/slipway.mjs')
const CLIENT = { client_id: 'slipway', client_secret: 'secret-of-the-client' }
const ada = {
  username: 'ada',
  password: 'password of ada',
  claims: { email: 'ada@example.com', email_verified: true, preferred_username: 'ada', groups: ['deployers'] },
}

let suite: Suite
let provider: OidcProvider
let child: ChildProcess | undefined

beforeAll(async () => {
  suite = await startSuite({
    settingsOf: async (name, all) => {
      if (name !== 'gateway') return {}
      const base = `http://127.0.0.1:${all.get('gateway')?.['SLIPWAY_PORT']}`
      const redirect_uris = [`${base}/api/v1/auth/oidc/company/callback`]
      provider = await startOidcProvider({ users: [ada], clients: [{ ...CLIENT, redirect_uris }] })
      const rules = [{ claim: 'groups', value: 'deployers', roles: ['operator'] }]
      const company = { id: 'company', name: 'Company', issuer: provider.issuer, ...CLIENT, rules }
      const file = path.join(folder, 'oidc.json')
      fs.writeFileSync(file, JSON.stringify({ providers: [company] }))
      return { SLIPWAY_OIDC_FILE: file, SLIPWAY_PUBLIC_URL: base, SLIPWAY_DEVELOPMENT: 'true' }
    },
  })
})
afterAll(async () => {
  child?.kill()
  await suite?.stop()
  await provider?.close()
  fs.rmSync(folder, { recursive: true })
})

const environment = () => ({ SLIPWAY_URL: suite.url, XDG_CONFIG_HOME: folder })

test('a login with the browser of another machine stores a session that works', async () => {
  const env = { PATH: process.env['PATH'], HOME: folder, ...environment() }
  const login = spawn(process.execPath, [program, 'login', '--no-browser'], { env })
  child = login
  const ended = new Promise((resolve) => login.on('close', resolve))
  let shown = ''
  login.stderr.setEncoding('utf8').on('data', (text: string) => {
    shown += text
  })
  const address = await waitFor(() => /http:\S+code_challenge\S+/.exec(shown)?.[0], { what: 'the address' })
  const page = await openBrowser().logIn(address, ada)
  expect(page).toMatchObject({ status: 200, body: expect.stringContaining('You can close this page') })
  expect(await ended).toBe(0)
  expect(shown).toContain('as ada@example.com')
  const { code, stdout } = await runProgram(process.execPath, [program, 'whoami'], { env: environment() })
  expect(code).toBe(0)
  expect(stdout).toMatch(/roles: +operator\n/)
})
