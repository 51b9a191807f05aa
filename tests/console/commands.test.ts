// Runs the command that each screen shows.
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import {
  createAction,
  createLocalTarget,
  deploymentEnd,
  loginToSuite,
  repositoryRoot,
  type Suite,
  startSuite,
} from '@slipway/testing'
import type { Browser } from 'playwright-core'
import { launch, Visitor } from './browser.ts'

let suite: Suite
let browser: Browser
let visitor: Visitor
let folder: string
let key: string
let addresses: string[]

beforeAll(async () => {
  ;[suite, browser, folder] = await Promise.all([startSuite(), launch(), mkdtemp(path.join(tmpdir(), 'commands-'))])
  const api = await loginToSuite(suite)
  const { body } = await api.post('/auth/api-keys', { name: 'commands', description: 'runs what the screens show' })
  key = body.full_key
  const action_id = await createAction(api, {}, "Greet $(touch planted) 'everybody'")
  const target = await createLocalTarget(api)
  const { body: deployment } = await api.post('/deployments', { action_id, target_ids: [target] })
  await deploymentEnd(api, deployment.deployment_id)
  addresses = [
    '/',
    '/deployments',
    '/deployments?state=success&search=Greet%20%24(touch%20planted)',
    `/deployments?source_type=action&action_id=${action_id}&version=1.0.0&target_id=${target}&triggered_by=admin`,
    '/deployments?source_type=action&created_from=2026-01-01T00:00:00.000Z',
    `/deployments/${deployment.deployment_id}`,
    `/deployments/${deployment.deployment_id}?tab=changes`,
    `/deploy?kind=action&id=${action_id}&targets=${target}`,
    '/queue',
    '/queue?status=dispatched',
    '/targets',
    `/targets/${target}`,
    '/matrix',
    '/matrix?search=Greet%20%24(touch%20planted)',
    '/matrix?source_type=action',
    '/releases',
    `/releases?action_id=${action_id}&version=1.0.0&state=applied`,
    `/releases?target_id=${target}`,
    '/sources',
    `/sources/actions/${action_id}`,
    `/sources/actions/${action_id}?tab=where`,
    '/freezes',
    '/environments',
    '/tenants',
    '/instances',
    '/webhooks',
    '/audit',
    '/users',
    '/roles',
    '/account',
  ]
})
afterEach(() => visitor?.leave())
afterAll(async () => {
  await browser?.close()
  await suite?.stop()
  if (folder) await rm(folder, { recursive: true })
})

/** Runs a command as a user who has set the address and the API key. */
async function run(command: string): Promise<string | null> {
  const env = {
    ...process.env,
    PATH: `${path.join(repositoryRoot, 'node_modules/.bin')}${path.delimiter}${process.env['PATH']}`,
    SLIPWAY_URL: suite.url,
    SLIPWAY_API_KEY: key,
  }
  return await promisify(execFile)('bash', ['-c', command], { cwd: folder, env }).then(
    () => null,
    (error: Error) => error.message,
  )
}

test('every screen shows a command that works', async () => {
  visitor = await Visitor.arrive(browser, suite)
  const { page } = visitor
  await visitor.login(suite.admin, '/', 'Now')
  const commands = new Map<string, string>()
  for (const address of addresses) {
    await visitor.open(address)
    const command = page
      .getByRole('main')
      .getByRole('button')
      .filter({ has: page.locator('code') })
      .last()
    await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' })
    // The form of a deployment shows its command after it has loaded the name of the source.
    if (address.startsWith('/deploy?')) await visitor.sees(/slipway preview 'Greet/)
    commands.set(address, (await command.locator('code').textContent()) ?? '')
  }
  const problems: [string, string, string][] = []
  for (const [address, command] of commands) {
    const problem = await run(command)
    if (problem !== null) problems.push([address, command, problem])
  }
  expect(problems).toEqual([])
  expect(await run('test ! -e planted')).toBeNull()
})
