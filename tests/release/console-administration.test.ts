// What is global for an installation, in a browser: instances, join tokens, roles, the audit chain and restarts of services.
// And the command of each screen.
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, jest, test } from '@jest/globals'
import { SLIPWAY_VERSION } from '@slipway/runtime'
import {
  connectTo,
  createAction,
  createGate,
  deploymentEnd,
  logHistory,
  repositoryRoot,
  SLOW,
  waitFor,
} from '@slipway/testing'
import { openOwnSuite, Stage } from '../console/stage.ts'

jest.setTimeout(120_000 * SLOW)

const stage = new Stage(() => openOwnSuite())

test('each log line is shown once, and an invalid access token is renewed, although log-stream and gateway are restarted', async () => {
  const { suite } = stage.ground
  const gates = [createGate(stage), createGate(stage), createGate(stage)]
  const id = await stage.deploy(gates.map(({ script }, n) => `echo "part ${n}"; ${script}`).join('\n'))
  const visitor = await stage.arrive()
  const { page } = visitor
  await visitor.login(stage.account, `/deployments/${id}?tab=log`)
  let renewals = 0
  page.on('response', (answer) => {
    if (answer.url().endsWith('/auth/refresh') && answer.ok()) renewals += 1
  })
  await visitor.sees('part 0')
  await suite.kill('log-stream')
  await suite.start('log-stream')
  gates[0]?.open()
  await visitor.sees('part 1')
  await suite.kill('gateway')
  await suite.start('gateway', { SLIPWAY_JWT_KEYS: `next:${randomBytes(32).toString('base64')}` })
  gates[1]?.open()
  await visitor.sees('part 2')
  expect(renewals).toBeGreaterThan(0)
  gates[2]?.open()
  await page.getByText('success', { exact: true }).first().waitFor()
  expect(await page.getByText('Your session has ended').count()).toBe(0)
  await suite.kill('gateway')
  await suite.start('gateway')
  const lines = await logHistory(stage.api, id)
  await visitor.sees(`${lines.length} lines`)
  const shown = await page.getByTestId('log-text').allTextContents()
  expect(shown).toEqual(lines.map(({ message }) => message))
})

test('an instance can be labelled, drained and resumed', async () => {
  const instance = async () => (await stage.api.get('/admin/instances')).body.data[0]
  const { name } = await instance()
  const visitor = await stage.login('/instances', 'Instances')
  const { page } = visitor
  await visitor.button(`Labels of ${name}`).click()
  await page.getByRole('combobox', { name: 'Labels' }).fill('site=berlin')
  await page.keyboard.press('Enter')
  await visitor.button('Save').click()
  await visitor.sees('site=berlin')
  await visitor.confirm('Drain', `Drain ${name}`)
  await visitor.sees('draining')
  expect(await instance()).toMatchObject({ draining: true, labels: { site: 'berlin' } })
  await visitor.confirm('Resume', `Resume ${name}`)
  await visitor.button(`Drain ${name}`).waitFor()
})

test('a join token is shown once, lets instances join, and is revoked', async () => {
  const visitor = await stage.login('/instances', 'Instances')
  const { page } = visitor
  await visitor.button('New join token').click()
  await page.getByLabel('Uses').fill('3')
  await page.getByRole('combobox', { name: 'Allowed labels' }).fill('zone=north')
  await page.keyboard.press('Enter')
  await visitor.button('Create').click()
  const token = (await page.getByTestId('shown-once').textContent()) ?? ''
  await visitor.button('I have stored it').click()
  await visitor.sees('0 of 3')
  expect(await page.getByText(token).count()).toBe(0)

  const join = async (name: string) => {
    const response = await fetch(`${stage.ground.suite.bridgeUrl}/v1/instances`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name, version: SLIPWAY_VERSION, capacity: 1, labels: { zone: 'north' } }),
    })
    return response.ok
  }
  expect(await join('lighthouse')).toBe(true)
  const row = page.getByRole('row', { name: /lighthouse/ })
  await row.getByText('zone=north').waitFor()
  await visitor.sees('1 of 3')
  const grant = page.getByRole('row', { name: /1 of 3/ })
  await grant.getByRole('button', { name: /^Revoke/ }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
  await grant.waitFor({ state: 'detached' })
  expect(await join('second lighthouse')).toBe(false)

  // Make the instance count as online, although it sends no heartbeats.
  const database = await connectTo(stage.ground.suite.databaseUrl)
  await database.query(`UPDATE instances SET enrolled_at = now() + interval '1 hour' WHERE name = 'lighthouse'`)
  await database.end()
  await visitor.button('Remove lighthouse').click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Remove' }).click()
  await dialog.getByText('CONFLICT').waitFor()
  await dialog.getByRole('checkbox', { name: /although it is online/ }).check()
  await dialog.getByRole('button', { name: 'Remove' }).click()
  await row.waitFor({ state: 'detached' })
})

test('a new role gives its users exactly the screens that it allows, and the audit log shows that its chain is complete', async () => {
  const admin = await stage.login('/roles', 'Roles')
  const { page } = admin
  await admin.button('New role').click()
  await page.getByRole('dialog').getByLabel('Name').fill('watchkeeper')
  await page.getByRole('checkbox', { name: 'deployments:read' }).check()
  await page.getByRole('checkbox', { name: 'deployments:cancel' }).check()
  await admin.button('Create').click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  const keeper = await stage.arrive()
  await keeper.login(await stage.createAccount(['watchkeeper']), '/', 'Now')
  const menu = keeper.page.getByRole('navigation', { name: 'Screens' }).getByRole('link')
  expect(await menu.allTextContents()).toEqual(['Now', 'Deployments', 'Queue', 'Matrix', 'Account', 'Documentation'])
  await keeper.settled()
  await keeper.expectNoRefusal()

  await admin.goTo('Audit')
  await admin.sees(/All \d+ records were checked: none was changed/)
  await admin.button('role.create').click()
  await page.waitForURL(/action=role\.create/)
  await admin.button('auth.login').first().waitFor({ state: 'detached' })
  expect(await admin.button('role.create').count()).toBe(1)
})

test('a read that takes longer than the time between two reads goes on', async () => {
  const visitor = await stage.login('/', 'Now')
  const { page } = visitor
  await page.clock.install()
  let release = () => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  let reads = 0
  await page.route('**/api/v1/targets?*search=slow*', async (route) => {
    reads += 1
    if (reads === 2) await released
    await route.continue()
  })
  await visitor.open('/targets?search=slow')
  await visitor.heading('Targets')
  await visitor.settled()
  await page.clock.runFor(3_000)
  await waitFor(() => reads === 2, { what: 'the second read' })
  await stage.ground.createLocalTarget({ name: 'slow' })
  // Without their answers, the page would think that the server is silent.
  const others: Promise<unknown>[] = []
  page.on('request', (request) => request.url().includes('search=slow') || others.push(request.response()))
  for (let second = 0; second < 9; second += 1) {
    await page.clock.runFor(1_000)
    await Promise.all(others)
  }
  expect(reads).toBe(2)
  release()
  await page.locator('tbody a', { hasText: 'slow' }).waitFor()
  await page.unrouteAll({ behavior: 'ignoreErrors' })
})

test('the palette says that a search failed, not that nothing was found', async () => {
  const visitor = await stage.login('/', 'Now')
  const { page } = visitor
  const SEARCH = /\/api\/v1\/actions\?/
  // The client repeats what failed with 500 for half a minute, but not a refused request.
  const refused = { error: { code: 'VALIDATION_ERROR', message: 'The search of the test fails' } }
  await page.route(SEARCH, (route) =>
    route.fulfill({ status: 400, headers: { 'x-request-id': 'test' }, json: refused }),
  )
  await page.keyboard.press('Control+k')
  const palette = page.getByRole('dialog')
  await palette.getByRole('combobox').fill('unheard of')
  await palette.getByRole('alert').getByText('The search of the test fails').waitFor()
  expect(await palette.getByText('Nothing has this in its name.').count()).toBe(0)
  await page.unroute(SEARCH)
  await palette.getByRole('combobox').fill('unheard')
  await palette.getByText('Nothing has this in its name.').waitFor()
})

test('every screen shows a command that works', async () => {
  const { body } = await stage.api.post('/auth/api-keys', { name: 'commands' })
  const env = {
    ...process.env,
    PATH: `${path.join(repositoryRoot, 'node_modules/.bin')}${path.delimiter}${process.env['PATH']}`,
    SLIPWAY_URL: stage.ground.suite.url,
    SLIPWAY_API_KEY: body.full_key,
  }
  const run = (command: string) =>
    promisify(execFile)('bash', ['-c', command], { cwd: stage.folder, env }).then(
      () => null,
      (error: Error) => error.message,
    )
  const action_id = await createAction(stage.api, {}, "Greet $(touch planted) 'everybody'")
  const target = await stage.ground.createLocalTarget()
  const deployment = await stage.start({ action_id, target_ids: [target] })
  await deploymentEnd(stage.api, deployment)
  const later = await stage.start({ action_id, target_ids: [target], start_at: '2099-01-01T00:00:00Z' })

  const { id: account } = await stage.create('/admin/users', { kind: 'service', username: 'pipeline', roles: [] })

  const visitor = await stage.login('/', 'Now')
  const { page } = visitor
  const problems: [string, string, string][] = []
  const known = new Set<string>()
  for (const address of [
    '/',
    '/deployments',
    '/deployments?state=success&search=Greet%20%24(touch%20planted)',
    `/deployments?source_type=action&action_id=${action_id}&version=1.0.0&target_id=${target}&triggered_by=admin`,
    '/deployments?source_type=action&created_from=2026-01-01T00:00:00.000Z',
    `/deployments/${deployment}`,
    `/deployments/${deployment}?tab=changes`,
    `/deploy?kind=action&id=${action_id}&targets=${target}`,
    '/queue',
    '/queue?status=dispatched',
    `/queue/${later}`,
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
    `/users/${account}`,
    '/roles',
    '/account',
  ]) {
    await visitor.open(address)
    const shown = page
      .getByRole('main')
      .getByRole('button')
      .filter({ has: page.locator('code') })
    await visitor.settled()
    // The form of a deployment shows its command after it has loaded the name of the source.
    if (address.startsWith('/deploy?')) await visitor.sees(/slipway preview 'Greet/)
    const command = (await shown.last().locator('code').textContent()) ?? ''
    const problem = known.has(command) ? null : await run(command)
    known.add(command)
    if (problem !== null) problems.push([address, command, problem])
  }
  expect(problems).toEqual([])
  expect(await run('test ! -e planted')).toBeNull()
})
