// A pipeline that deploys with no stored secret: the program itself, an issuer of ID tokens, and the suite.
import { spawn } from 'node:child_process'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  createAction,
  openTenant,
  repositoryRoot,
  startTokenIssuer,
  type TestTenant,
  type TokenIssuer,
} from '@slipway/testing'
import { createFolder } from './command-line.ts'

const program = path.join(repositoryRoot, 'packages/cli/bin/slipway.mjs')
const home = createFolder()
const JOB = { sub: 'repo:acme/shop:ref:refs/heads/main', repository: 'acme/shop', ref: 'refs/heads/main' }
let tenant: TestTenant
let issuer: TokenIssuer
let account: { id: string; username: string }

beforeAll(async () => {
  ;[tenant, issuer] = await Promise.all([openTenant(), startTokenIssuer()])
  const { api, suite } = tenant
  const username = `${tenant.username}-pipeline`
  account = (await api.post('/admin/users', { kind: 'service', username, roles: ['operator'] })).body
  const claims = { repository: 'acme/shop', ref: 'refs/heads/main' }
  const trust = { name: 'main', issuer: issuer.url, audience: suite.url, claims }
  expect((await api.post(`/admin/users/${account.id}/trusts`, trust)).status).toBe(201)
  await tenant.createLocalTarget({ name: 'web-1', tags: [{ key: 'role', value: 'web' }] })
  await createAction(api, { script: 'echo "deployed {{ revision }}"', variables: [{ name: 'revision' }] }, 'shop')
})
afterAll(() => issuer.close())

/** Runs the program in an environment that has nothing but these variables. */
function slipway(args: readonly string[], env: Record<string, string>) {
  const settings = { SLIPWAY_URL: tenant.suite.url, SLIPWAY_SERVICE_ACCOUNT: account.username }
  const child = spawn(process.execPath, [program, ...args], { env: { HOME: home, ...settings, ...env } })
  const output = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output.stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text) => {
    output.stderr += text
  })
  return new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) =>
    child.on('close', (code) => resolve({ code, ...output })),
  )
}
const deploy = (revision: string) => [
  'deploy',
  'shop',
  '--tag',
  'role=web',
  '--var',
  `revision=${revision}`,
  '--follow',
]
const inGitHub = (job: Record<string, unknown>) => {
  issuer.job = job
  return issuer.variablesOfGitHub()
}

test('a job of GitHub Actions deploys, and the audit log names its account and its token', async () => {
  const ended = await slipway(deploy('c0ffee'), inGitHub(JOB))
  expect(ended).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/web-1 \| deployed c0ffee\n[\s\S]*ended: success/),
  })
  const log = async (action: string) => (await tenant.api.get(`/audit/logs?action=${action}`)).body.data[0]
  expect(await log('deployment.create')).toMatchObject({ actor_name: account.username })
  expect(await log('auth.token_exchange')).toMatchObject({
    actor_name: account.username,
    details: { trust: 'main', issuer: issuer.url, subject: JOB.sub },
  })
})

test('a job of GitLab CI deploys with the one token that it has', async () => {
  const SLIPWAY_ID_TOKEN = await issuer.token({ ...JOB, aud: tenant.suite.url })
  const token = await slipway(['token'], { SLIPWAY_ID_TOKEN })
  expect(token).toMatchObject({ code: 0 })
  const env = { SLIPWAY_ID_TOKEN, SLIPWAY_TOKEN: token.stdout.trim() }
  expect(await slipway(deploy('decade'), env)).toMatchObject({ code: 0 })
  // The same ID token cannot be exchanged again.
  expect(await slipway(['status'], { SLIPWAY_ID_TOKEN })).toMatchObject({ code: 3 })
})

test('a job of another branch is refused, and the audit log names the claim', async () => {
  const ended = await slipway(deploy('abc'), inGitHub({ ...JOB, ref: 'refs/heads/other' }))
  expect(ended).toMatchObject({ code: 3, stdout: '' })
  const { data } = (await tenant.api.get('/audit/logs?action=auth.token_exchange')).body
  expect(data[0].details).toMatchObject({
    reason: 'no_trust_matches',
    mismatches: [{ trust: 'main', claim: 'ref' }],
  })
})

test('a suspended account deploys no more', async () => {
  await tenant.api.call('PATCH', `/admin/users/${account.id}`, { status: 'suspended' })
  expect(await slipway(deploy('abc'), inGitHub(JOB))).toMatchObject({ code: 3 })
})
