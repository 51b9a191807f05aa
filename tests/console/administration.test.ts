// Administration in the console and its effects: versions, freezes, webhooks, instances, audit.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { SLIPWAY_VERSION } from '@slipway/runtime'
import {
  connectTo,
  createAction,
  createLocalTarget,
  deploymentEnd,
  expectedSignature,
  type Receiver,
  startReceiver,
  waitFor,
} from '@slipway/testing'
import { Stage } from './stage.ts'

const stage = new Stage({ env: { SLIPWAY_WEBHOOK_ALLOW_PRIVATE: 'true' } })
let receiver: Receiver
beforeAll(async () => {
  receiver = await startReceiver()
})
afterAll(() => receiver?.close())

const script = (text: string) => JSON.stringify({ type: 'script', script: text })

describe('a source', () => {
  test('gets a new version that can be compared with the one before', async () => {
    const id = await createAction(stage.api, { script: 'echo one' }, 'compared')
    const visitor = await stage.arrive()
    const { page } = visitor
    await visitor.login(stage.suite.admin, `/sources/actions/${id}`, 'compared')
    const publish = async (version: string) => {
      await visitor.button('Publish a version').click()
      await page.getByRole('textbox', { name: 'Definition' }).fill(script('echo two'))
      await page.getByRole('dialog').getByLabel('Version').fill(version)
      await visitor.button('Publish').click()
    }
    await publish('1.1.0')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByRole('tab', { name: 'Compare' }).click()
    const differences = page.getByRole('region', { name: 'Differences' })
    await differences.getByText('- script: echo one').waitFor()
    await differences.getByText('+ script: echo two').waitFor()
    await publish('1.1.0')
    await page.getByRole('dialog').getByText('CONFLICT').waitFor()
  })

  test('that changes after a preview is not started: the screen shows the difference and offers another preview', async () => {
    const action_id = await createAction(stage.api, { script: 'echo one' }, 'moving')
    const target = await createLocalTarget(stage.api)
    const visitor = await stage.arrive()
    const { page } = visitor
    await visitor.login(stage.suite.admin, `/deploy?kind=action&id=${action_id}&targets=${target}`, 'Deploy')
    await visitor.button('Preview').click()
    await visitor.heading('Preview: moving 1.0.0')
    const definition = { type: 'script', script: 'echo two' }
    await stage.create(`/actions/${action_id}/versions`, { version: '1.0.1', definition })
    await visitor.button('Start').click()
    await visitor.sees('The plan has changed since the preview. Nothing has started.')
    await visitor.sees('Now: action "moving" 1.0.1')
    expect(await visitor.button('Start').count()).toBe(0)
    await visitor.button('Preview again').click()
    await visitor.heading('Preview: moving 1.0.1')
    await visitor.button('Start').click()
    await page.waitForURL((url) => url.pathname.startsWith('/deployments/'))
    await page.getByRole('tab', { name: 'Log' }).click()
    await page.getByTestId('log-text').getByText('two', { exact: true }).waitFor()
  })
})

test('a freeze refuses a start, an administrator overrides it with a reason, and all may start after its deletion', async () => {
  const action_id = await createAction(stage.api, {})
  const target = await createLocalTarget(stage.api)
  const [admin, operator] = [await stage.arrive(), await stage.arrive()]
  await admin.login(stage.suite.admin, '/freezes', 'Freezes')
  await admin.button('New freeze').click()
  await admin.page.getByLabel('Name').fill('Harvest festival')
  const anHourAgo = new Date(Date.now() - 3_600_000 - new Date().getTimezoneOffset() * 60_000)
  await admin.page.getByLabel('Start').fill(anHourAgo.toISOString().slice(0, 16))
  await admin.button('Create').click()
  await admin.page
    .getByRole('row', { name: /Harvest festival/ })
    .getByText('in force')
    .waitFor()

  const address = `/deploy?kind=action&id=${action_id}&targets=${target}`
  const isStarted = (url: URL) => url.pathname.startsWith('/deployments/')
  await operator.login(await stage.createAccount(['operator']), address, 'Deploy')
  await operator.button('Preview').click()
  await operator.page
    .getByRole('status')
    .getByText(/Harvest festival/)
    .waitFor()
  await operator.button('Start').click()
  await operator.sees('Frozen. Nothing has started.')
  await operator.sees('Only an administrator can override a freeze.')
  expect(await operator.page.getByLabel('Reason for the override').count()).toBe(0)

  await admin.open(address)
  await admin.button('Preview').click()
  await admin.button('Start').click()
  await admin.page.getByLabel('Reason for the override').fill('the cellar is under water')
  await admin.button('Override and start').click()
  await admin.page.waitForURL(isStarted)
  const id = new URL(admin.page.url()).pathname.split('/').at(-1) ?? ''
  await deploymentEnd(stage.api, id)
  const { body } = await stage.api.get(`/audit/logs?resource_id=${id}`)
  expect(JSON.stringify(body.data)).toContain('the cellar is under water')

  await admin.goTo('Freezes')
  await admin.confirm('Delete', 'Delete Harvest festival')
  await admin.sees('There is no freeze yet')
  await operator.button('Start').click()
  await operator.page.waitForURL(isStarted)
})

test('a failed delivery shows its reason and can be redelivered', async () => {
  receiver.answer = () => ({ status: 500, body: 'the receiver is not in the mood' })
  const visitor = await stage.arrive()
  const { page } = visitor
  await visitor.login(stage.suite.admin, '/webhooks', 'Webhooks')
  await visitor.button('New webhook').click()
  await page.getByLabel('URL').fill(receiver.url)
  await visitor.choose('Events', /target\.created/)
  await visitor.button('Create').click()
  const secret = (await page.getByTestId('shown-once').textContent()) ?? ''
  await visitor.button('I have stored it').click()
  await createLocalTarget(stage.api, { name: 'told to the receiver' })

  await page.getByRole('link', { name: receiver.url }).click()
  await visitor.heading('Deliveries')
  await page.getByText('500', { exact: true }).waitFor()
  await visitor.button('Details of target.created').click()
  await visitor.sees('the receiver is not in the mood')
  await visitor.sees(/told to the receiver/)
  receiver.answer = () => ({ status: 204 })
  await visitor.button('Redeliver target.created').click()
  await page.getByText('delivered', { exact: true }).waitFor()
  const last = receiver.received.at(-1)
  expect(last?.event.data).toMatchObject({ name: 'told to the receiver' })
  expect(last && expectedSignature(secret, last)).toBe(last?.signature)
})

test('a join token is shown once, lets instances join, and is revoked', async () => {
  const visitor = await stage.arrive()
  const { page } = visitor
  await visitor.login(stage.suite.admin, '/instances', 'Instances')
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
    const response = await fetch(`${stage.suite.bridgeUrl}/v1/instances`, {
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
  const database = await connectTo(stage.suite.databaseUrl)
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

test('the audit log can be filtered, the address keeps the filter, and a record shows its details', async () => {
  await createLocalTarget(stage.api, { name: 'noted' })
  const visitor = await stage.arrive()
  const { page } = visitor
  await visitor.login(stage.suite.admin, '/audit', 'Audit')
  await visitor.sees('auth.login')
  await visitor.choose('Action', 'target.create')
  const actions = () =>
    page
      .getByRole('button', { name: /^Details of/ })
      .evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')))
  await waitFor(async () => new Set(await actions()).size === 1, { what: 'the filter to count' })
  expect(new Set(await actions())).toEqual(new Set(['Details of target.create']))
  expect(new URL(page.url()).searchParams.get('action')).toBe('target.create')
  await page.reload()
  await visitor.button('Details of target.create').first().click()
  await visitor.sees(/"name": "noted"/)
  expect(new Set(await actions())).toEqual(new Set(['Details of target.create']))
  await visitor.button('Remove filters').click()
  await page.getByRole('button', { name: 'Details of auth.login' }).first().waitFor()
})

test('the chosen theme stays after a reload, and in another tab', async () => {
  const visitor = await stage.arrive()
  const { page } = visitor
  const theme = (one = page) => one.locator('html').getAttribute('data-mantine-color-scheme')
  await visitor.login(stage.suite.admin, '/', 'Now')
  expect(await theme()).toBe('light')
  await visitor.button('Use the dark theme').click()
  expect(await theme()).toBe('dark')
  await page.reload()
  await visitor.heading('Now')
  expect(await theme()).toBe('dark')
  const tab = await visitor.openTab('/queue')
  await tab.getByRole('button', { name: 'Use the light theme' }).waitFor()
  expect(await theme(tab)).toBe('dark')
})
