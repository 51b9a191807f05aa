// Records in a browser and their effects: targets, versions, freezes, webhooks and the audit log.
import { expect, test } from '@jest/globals'
import {
  createAction,
  deploymentEnd,
  expectedSignature,
  openTenant,
  type Receiver,
  startReceiver,
  waitForValue,
} from '@slipway/testing'
import type { Visitor } from '../console/browser.ts'
import { Stage } from '../console/stage.ts'

const stage = new Stage(openTenant)

test('targets are filtered by tag, environment and status, and the address keeps the filters', async () => {
  const visitor = await stage.login('/environments', 'Environments')
  const { page } = visitor
  // Without a route to the internet, the browser calls itself offline.
  await page.evaluate("window.dispatchEvent(new Event('offline'))")
  await visitor.button('New environment').click()
  await page.getByLabel('Name').fill('harbour')
  await page.getByRole('dialog').getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByRole('row', { name: /harbour/ }).waitFor()
  const { body } = await stage.api.get('/environments?search=harbour')
  const environment_id = body.data[0].id
  const tags = [{ key: 'role', value: 'web' }]
  const connection = { type: 'simulated' }
  await stage.create('/targets', { name: 'one', connection, tags, environment_id })
  await stage.create('/targets', { name: 'two', connection, tags })
  await stage.create('/targets', { name: 'three', connection, enabled: false, environment_id })

  await visitor.goTo('Targets')
  const shows = (wanted: string) =>
    waitForValue(
      'the listed targets',
      async () => (await page.locator('tbody a[href^="/targets/"]').allTextContents()).join(),
      (names) => names === wanted,
    )
  await shows('three,two,one')
  await page.getByRole('row', { name: /two/ }).getByRole('link', { name: 'role=web' }).click()
  await shows('two,one')
  await visitor.choose('Environment', 'harbour')
  await shows('one')
  await page.reload()
  await shows('one')
  expect(new URL(page.url()).searchParams.get('environment')).toBe(environment_id)
  await visitor.open('/targets?status=disabled')
  await shows('three')
  await visitor.open('/targets?tag=role%3Dwebs')
  await visitor.sees('No target fits')
})

test('a version is published with its differences, compared with the one before, and refused if it exists', async () => {
  const id = await createAction(stage.api, { script: 'echo one' }, 'Count')
  const visitor = await stage.login(`/sources/actions/${id}`, 'Count')
  const { page } = visitor
  const dialog = page.getByRole('dialog')
  const differences = page.getByRole('region', { name: 'Differences' })
  const expectDifferences = async () => {
    await differences.getByText('- script: echo one').waitFor()
    await differences.getByText('+ script: echo two').waitFor()
  }
  await visitor.button('Publish a version').click()
  await dialog.getByLabel('Definition (YAML)').fill('type: script\nscript: [echo')
  await dialog.getByText(/at line 2/).waitFor()
  await dialog.getByLabel('Definition (YAML)').fill('type: script\nscript: echo two\n')
  await dialog.getByRole('checkbox', { name: 'Show what changes from 1.0.0' }).check()
  await expectDifferences()
  await visitor.button('Publish').click()
  await page.getByRole('heading', { level: 2, name: /^1\.0\.1/ }).waitFor()
  await page.getByRole('tab', { name: 'Compare' }).click()
  await expectDifferences()
  await visitor.button('Publish a version').click()
  await dialog.getByLabel('Version').fill('1.0.1')
  await visitor.button('Publish').click()
  await dialog.getByText(/has a version 1\.0\.1 already/).waitFor()
})

test('a freeze refuses a start, an administrator overrides it with a reason, and all may start after its deletion', async () => {
  const action_id = await createAction(stage.api)
  const target = await stage.ground.createLocalTarget()
  const address = `/deploy?kind=action&id=${action_id}&targets=${target}`
  const isStarted = (url: URL) => url.pathname.startsWith('/deployments/')
  const admin = await stage.login('/freezes', 'Freezes')
  const createFreeze = async (name: string, fields: Record<string, string>) => {
    await admin.button('New freeze').click()
    await admin.page.getByLabel('Name').fill(name)
    for (const [label, value] of Object.entries(fields)) {
      await admin.page.getByRole('dialog').getByLabel(label, { exact: false }).first().fill(value)
    }
    await admin.button('Create').click()
    await admin.page.getByRole('dialog').waitFor({ state: 'detached' })
  }
  await createFreeze('weekly', { Recurrence: 'FREQ=WEEKLY' })
  const windows = admin.page.getByRole('region', { name: 'Next 14 days' }).getByRole('img')
  await windows.nth(1).waitFor()
  expect(await windows.count()).toBe(2)
  await admin.confirm('Delete', 'Delete weekly')
  const anHourAgo = new Date(Date.now() - 3_600_000 - new Date().getTimezoneOffset() * 60_000)
  await createFreeze('Harvest festival', { Start: anHourAgo.toISOString().slice(0, 16) })
  const row = admin.page.getByRole('row', { name: /Harvest festival/ })
  await row.getByText('in force').waitFor()

  const operator = await stage.arrive()
  await operator.login(await stage.createAccount(['operator']), address, 'Deploy')
  await operator.button('Preview').click()
  await operator.page
    .getByRole('status')
    .getByText(/Held back by freeze "Harvest festival"/)
    .waitFor()
  await operator.sees(/^Frozen until/)
  await operator.sees(/Only an administrator can override a freeze\./)
  expect(await operator.button('Start').count()).toBe(0)
  expect(await operator.page.getByLabel('Reason for the override').count()).toBe(0)

  await admin.open(address)
  await admin.button('Preview').click()
  await admin.button('Override…').click()
  await admin.page.getByLabel('Reason for the override').fill('the cellar is under water')
  await admin.button('Override and start').click()
  await admin.page.waitForURL(isStarted)
  await deploymentEnd(stage.api, new URL(admin.page.url()).pathname.split('/').at(-1) ?? '')
  await admin.goTo('Freezes')
  await admin.confirm('Delete', 'Delete Harvest festival')
  await admin.sees('There is no freeze yet')
  await operator.button('Preview again').click()
  // The administrator has deployed the same meanwhile.
  await operator.button('Start again').click()
  await operator.page.waitForURL(isStarted)

  await admin.goTo('Audit')
  await admin.choose('Action', 'deployment.create')
  const details = (action: string) => admin.button(`Details of ${action}`).first()
  await details('freeze.delete').waitFor({ state: 'detached' })
  expect(new URL(admin.page.url()).searchParams.get('action')).toBe('deployment.create')
  await admin.page.reload()
  await details('deployment.create').waitFor()
  expect(await details('freeze.delete').count()).toBe(0)
  await admin.button('Details of deployment.create').nth(1).click()
  await admin.sees(/the cellar is under water/)
  await admin.button('Remove filters').click()
  await details('freeze.delete').waitFor()
})

test('a failed delivery of a webhook shows its reason, and can be repeated', async () => {
  const receiver: Receiver = await startReceiver()
  try {
    await redeliver(await stage.login('/webhooks', 'Webhooks'), receiver)
  } finally {
    await receiver.close()
  }
})

async function redeliver(visitor: Visitor, receiver: Receiver): Promise<void> {
  const { page } = visitor
  receiver.answer = () => ({ status: 500, body: 'the receiver is not in the mood' })
  await visitor.button('New webhook').click()
  await page.getByLabel('URL').fill(receiver.url)
  await visitor.choose('Events', /target\.created/)
  await visitor.button('Create').click()
  const secret = (await page.getByTestId('shown-once').textContent()) ?? ''
  await visitor.button('I have stored it').click()
  await stage.ground.createLocalTarget({ name: 'told to the receiver' })

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
}
