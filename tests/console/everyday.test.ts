// Daily work in the console: the screen Now, the keyboard, and a further deployment with changes.
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import {
  type Api,
  createAction,
  createLocalTarget,
  deploymentEnd,
  loginToSuite,
  type Suite,
  startSuite,
} from '@slipway/testing'
import type { Browser } from 'playwright-core'
import { launch, Visitor } from './browser.ts'

const HOUR_MS = 3_600_000

let suite: Suite
let api: Api
let browser: Browser
let visitor: Visitor

beforeAll(async () => {
  ;[suite, browser] = await Promise.all([startSuite({ capacity: 1 }), launch()])
  api = await loginToSuite(suite)
})
afterEach(() => visitor?.leave())
afterAll(async () => {
  await browser?.close()
  await suite?.stop()
})

async function deploy(action_id: string, more: Record<string, unknown> = {}): Promise<string> {
  const target_ids = [await createLocalTarget(api)]
  const { body } = await api.post('/deployments', { action_id, target_ids, ...more })
  return body.deployment_id ?? body.pending_request_id
}

const login = async (address: string, heading: string) => {
  visitor = await Visitor.arrive(browser, suite)
  await visitor.login(suite.admin, address, heading)
  return visitor.page
}

test('Now shows running deployments, pending requests, failures by cause, and the next freeze', async () => {
  for (const name of ['Fill the disk', 'Fill the other disk']) {
    const action = await createAction(api, { script: 'echo "no space left on device" >&2; exit 1' }, name)
    await deploymentEnd(api, await deploy(action))
  }
  const at = (hours: number) => new Date(Date.now() + hours * HOUR_MS).toISOString()
  await api.post('/deployment-freezes', { name: 'Inventory', start_time: at(2), end_time: at(3) })
  const running = await deploy(await createAction(api, { script: 'sleep 600' }, 'Long work'))
  const waiting = await deploy(await createAction(api, {}, 'Next in line'))

  const page = await login('/', 'Now')
  const part = (name: string) => page.getByRole('region', { name })
  await part('Running').getByRole('link', { name: 'Long work 1.0.0' }).waitFor()
  await part('Slots').getByText('1 in use, 0 free').waitFor()
  await part('Queue').getByText('1 × for a free slot: Next in line 1.0.0').waitFor()
  await part('Freezes')
    .getByText(/Inventory begins in/)
    .waitFor()
  const failures = part('Failures of the last day')
  await failures.getByText('2 × The disk is full').waitFor()
  await visitor.expectAccessible()
  await failures.getByRole('link', { name: 'Fill the disk 1.0.0' }).click()
  await visitor.heading('Fill the disk 1.0.0')
  await page.getByRole('heading', { level: 2, name: 'The disk is full' }).waitFor()

  await visitor.open('/queue')
  const row = page.getByRole('row').filter({ hasText: 'Next in line 1.0.0' })
  await row.locator('a[href^="/targets/"]').waitFor()
  await row.getByRole('link', { name: 'Next in line 1.0.0' }).click()
  await visitor.heading('Next in line')
  await page.goBack()
  await page.getByRole('button', { name: 'Cancel request' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel request' }).click()
  await visitor.sees('Nothing waits')
  await page.getByText('Cancelled', { exact: true }).click()
  await row.getByRole('cell', { name: 'cancelled' }).waitFor()
  expect((await api.get('/deployments/pending?status=cancelled')).body[0].id).toBe(waiting)
  await api.post(`/deployments/${running}/cancel`)
  await deploymentEnd(api, running)
})

test('single keys open screens and rows, and can be switched off', async () => {
  const id = await deploy(await createAction(api, {}, 'Reached by keys'))
  await deploymentEnd(api, id)
  const page = await login('/', 'Now')
  await page.keyboard.press('g')
  await page.keyboard.press('d')
  await visitor.heading('Deployments')
  await page.getByRole('link', { name: 'Reached by keys 1.0.0' }).waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await visitor.heading('Reached by keys 1.0.0')

  await page.keyboard.press('g')
  await page.keyboard.press('s')
  await visitor.heading('Sources')
  await page.getByRole('searchbox', { name: 'Search' }).waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('Reached g d')
  expect(await page.getByRole('searchbox', { name: 'Search' }).inputValue()).toBe('Reached g d')

  await visitor.open('/queue')
  await visitor.heading('Queue')
  await page.keyboard.press('?')
  const list = page.getByRole('dialog')
  await list.getByText('previous row').waitFor()
  await visitor.expectAccessible()
  await list.getByRole('switch', { name: 'Shortcuts without Ctrl' }).focus()
  await page.keyboard.press('Space')
  await page.keyboard.press('Escape')
  await list.waitFor({ state: 'detached' })
  await page.keyboard.press('g')
  await page.keyboard.press('d')
  await page.keyboard.press('?')
  await page.keyboard.press('Control+k')
  await list.getByRole('option', { name: /^Now/ }).waitFor()
  await visitor.heading('Queue')
})

test('the palette finds sources and executes actions', async () => {
  const id = await createAction(api, {}, 'Polish the brass')
  const page = await login('/', 'Now')
  await page.keyboard.press('Control+k')
  const text = page.getByRole('dialog').getByRole('combobox')
  await text.fill('brass')
  await page.getByRole('option', { name: /Polish the brass/ }).waitFor()
  await visitor.expectAccessible()
  await page.keyboard.press('Enter')
  await visitor.heading('Polish the brass')
  expect(new URL(page.url()).pathname).toBe(`/sources/actions/${id}`)
  await page.keyboard.press('Control+k')
  await text.fill('dark')
  await page.keyboard.press('Enter')
  await page.locator('html[data-mantine-color-scheme=dark]').waitFor()
})

test('the palette says that a search failed, not that nothing was found', async () => {
  const page = await login('/', 'Now')
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
  await visitor.expectAccessible()
  await page.unroute(SEARCH)
  await palette.getByRole('combobox').fill('unheard')
  await palette.getByText('Nothing has this in its name.').waitFor()
})

test('a new version shows its differences before it is published', async () => {
  const id = await createAction(api, { script: 'echo one' }, 'Count')
  const page = await login(`/sources/actions/${id}`, 'Count')
  await page.getByRole('button', { name: 'Publish a version' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Definition (YAML)').fill('type: script\nscript: [echo')
  await dialog.getByText(/at line 2/).waitFor()
  await dialog.getByLabel('Definition (YAML)').fill('type: script\nscript: echo two\n')
  await dialog.getByRole('checkbox', { name: 'Show what changes from 1.0.0' }).check()
  const changes = dialog.getByRole('region', { name: 'Differences' })
  await changes.getByText('- script: echo one').waitFor()
  await changes.getByText('+ script: echo two').waitFor()
  await visitor.expectAccessible()
  await dialog.getByRole('button', { name: 'Publish', exact: true }).click()
  await page.getByRole('heading', { level: 2, name: /^1\.0\.1/ }).waitFor()
})

test('the form of a deployment can be filled from the last deployment and then changed', async () => {
  const variables = [
    { name: 'colour', required: true },
    { name: 'copies', type: 'number', default: 1 },
    { name: 'token', sensitive: true, default: 'unused' },
  ]
  const script = 'echo "$SLIPWAY_VAR_COPIES copies in $SLIPWAY_VAR_COLOUR"'
  const action_id = await createAction(api, { script, variables }, 'Print the posters')
  const tag = { key: 'printer', value: 'large' }
  await createLocalTarget(api, { name: 'printer-1', tags: [tag] })
  const { body } = await api.post('/deployments', {
    action_id,
    target_tags: [tag],
    variables: { colour: 'red', copies: 3, token: 'a secret' },
    target_mode: { rolling: { batch_size: 4 } },
    failure_strategy: 'continue_on_failure',
  })
  await deploymentEnd(api, body.deployment_id)

  const page = await login(`/deploy?kind=action&id=${action_id}`, 'Deploy')
  await page.getByRole('link', { name: 'Fill in everything as in its last deployment' }).click()
  await visitor.sees('Selects 1 target')
  expect(await page.getByLabel('copies').inputValue()).toBe('3')
  // The API does not show secrets.
  expect(await page.locator('input[type=password]').inputValue()).toBe('')
  await page.getByLabel('colour').fill('blue')
  await page.getByRole('button', { name: 'Preview', exact: true }).click()
  await visitor.sees('4 targets at a time; a failure does not stop the other targets; nothing is rolled back.')
  await page.getByRole('button', { name: 'Start' }).click()
  await page.waitForURL((url) => url.pathname.startsWith('/deployments/'))
  await page.getByRole('tab', { name: 'Log' }).click()
  await visitor.sees('3 copies in blue')
})
