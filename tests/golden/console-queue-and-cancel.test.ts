// Running, waiting, failed and cancelled deployments in a browser, and the ways to them: keys, palette, tabs.
import { expect, test } from '@jest/globals'
import { createAction, createGate, deploymentEnd, openTenant } from '@slipway/testing'
import { Stage } from '../console/stage.ts'

const HOUR_MS = 3_600_000

const stage = new Stage(openTenant)

test('a request that waits for a target is shown with its reason, gets another priority, and is cancelled', async () => {
  const target_ids = [await stage.ground.createLocalTarget({ name: 'the only crane', concurrency: 'queue' })]
  const gate = createGate(stage)
  const running = await stage.start({
    action_id: await createAction(stage.api, gate, 'Long work'),
    target_ids,
  })
  const waiting = await stage.start({ action_id: await createAction(stage.api, {}, 'Next in line'), target_ids })
  const at = (hours: number) => new Date(Date.now() + hours * HOUR_MS).toISOString()
  await stage.create('/deployment-freezes', { name: 'Inventory', start_time: at(2), end_time: at(3) })

  const visitor = await stage.login('/', 'Now')
  const { page } = visitor
  const part = (name: string) => page.getByRole('region', { name })
  await part('Running').getByRole('link', { name: 'Long work 1.0.0' }).waitFor()
  await part('Slots')
    .getByText(/in use, \d+ free/)
    .waitFor()
  await part('Queue').getByText('1 × for targets that other deployments hold: Next in line').waitFor()
  await part('Freezes')
    .getByText(/Inventory begins in/)
    .waitFor()

  await visitor.goTo('Queue')
  const row = page.getByRole('row').filter({ hasText: 'Next in line 1.0.0' })
  await row.getByRole('link', { name: 'Show the deployment that holds the only crane' }).waitFor()
  await row.getByRole('link', { name: 'Next in line 1.0.0' }).click()
  await visitor.heading('Next in line')
  await page.goBack()
  const dialog = page.getByRole('dialog')
  await visitor.button('Edit priority').click()
  await page.getByRole('textbox', { name: 'Priority' }).fill('7')
  await dialog.getByRole('button', { name: 'Edit priority' }).click()
  await page.getByRole('cell', { name: '7', exact: true }).waitFor()
  await visitor.confirm('Cancel request')
  await visitor.sees('Nothing waits')
  await page.getByText('Cancelled', { exact: true }).click()
  await row.getByRole('cell', { name: 'cancelled' }).waitFor()
  expect((await stage.api.get('/deployments/pending?status=cancelled')).body[0].id).toBe(waiting)
  gate.open()
  await deploymentEnd(stage.api, running)
})

test('a deployment is cancelled with a reason in one tab, and the other tabs show that', async () => {
  const id = await stage.deploy('sleep 600')
  const visitor = await stage.login('/deployments?state=cancelled', 'Deployments')
  const { page } = visitor
  const link = page.locator(`a[href="/deployments/${id}"]`)
  expect(await link.count()).toBe(0)
  const tab = await visitor.openTab(`/deployments/${id}`)
  const cancel = (name: string) =>
    tab.getByRole(name === 'dialog' ? 'dialog' : 'main').getByRole('button', { name: 'Cancel deployment' })
  await cancel('main').click()
  await tab.getByLabel('Reason').fill('wrong version')
  await cancel('dialog').click()
  await tab.getByText(/cancelled by .* \(wrong version\)/).waitFor()
  await cancel('main').waitFor({ state: 'detached' })
  await link.waitFor()
  expect((await deploymentEnd(stage.api, id)).state).toBe('cancelled')
})

test('failures are grouped by cause, lead to the failed commands, and are retried where they failed', async () => {
  for (const name of ['Fill the disk', 'Fill the other disk']) {
    const action_id = await createAction(stage.api, { script: 'echo "no space left on device" >&2; exit 1' }, name)
    const target_ids = [await stage.ground.createLocalTarget()]
    await deploymentEnd(stage.api, await stage.start({ action_id, target_ids }))
  }
  const visitor = await stage.login('/', 'Now')
  const { page } = visitor
  const failures = page.getByRole('region', { name: 'Failures of the last day' })
  await failures.getByText('2 × The disk is full').waitFor()
  await failures.getByRole('link', { name: 'Fill the disk 1.0.0' }).click()
  await visitor.heading('Fill the disk 1.0.0')
  await page.getByRole('heading', { level: 2, name: 'The disk is full' }).waitFor()
  const failed = page.url()
  await visitor.button('Retry failed').click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText(/1 step on 1 target,/).waitFor()
  await dialog.getByRole('button', { name: 'Retry failed' }).click()
  await page.waitForURL((url) => url.pathname.startsWith('/deployments/') && !failed.includes(url.pathname))
  await deploymentEnd(stage.api, new URL(page.url()).pathname.split('/').at(-1) ?? '')
})

test('keys and the palette open screens, rows and sources, and can be switched off', async () => {
  await deploymentEnd(
    stage.api,
    await stage.start({
      action_id: await createAction(stage.api, {}, 'Polish the brass'),
      target_ids: [await stage.ground.createLocalTarget()],
    }),
  )
  const visitor = await stage.login('/no/such/screen', 'Nothing is here')
  const { page } = visitor
  const press = async (...keys: string[]) => {
    for (const key of keys) await page.keyboard.press(key)
  }
  await page.getByRole('link', { name: 'Go to what is running now' }).click()
  await visitor.heading('Now')
  await press('g', 'd')
  await visitor.heading('Deployments')
  await page.getByRole('link', { name: 'Polish the brass 1.0.0' }).waitFor()
  await press('j', 'Enter')
  await visitor.heading('Polish the brass 1.0.0')
  await press('g', 's')
  await visitor.heading('Sources')
  const search = page.getByRole('searchbox', { name: 'Search' })
  await search.waitFor()
  await press('/')
  await page.keyboard.type('Polish g d')
  expect(await search.inputValue()).toBe('Polish g d')

  await press('Control+k')
  const text = page.getByRole('dialog').getByRole('combobox')
  await text.fill('brass')
  await page.getByRole('option', { name: /^Polish the brass.*action/ }).waitFor()
  await text.fill('queue')
  await page.getByRole('option', { name: /^Queue/, selected: true }).waitFor()
  await press('Enter')
  await visitor.heading('Queue')
  await press('Control+k')
  await text.fill('dark')
  await page.getByRole('option', { name: 'Use the dark theme' }).waitFor()
  await press('Enter')
  await page.locator('html[data-mantine-color-scheme=dark]').waitFor()
  await page.reload()
  await page.locator('html[data-mantine-color-scheme=dark]').waitFor()
  await visitor.heading('Queue')

  await press('?')
  const list = page.getByRole('dialog')
  await list.getByText('previous row').waitFor()
  await list.getByRole('switch', { name: 'Shortcuts without Ctrl' }).focus()
  await press('Space', 'Escape')
  await list.waitFor({ state: 'detached' })
  await press('g', 'd', '?', 'Control+k')
  await list.getByRole('option', { name: /^Now/ }).waitFor()
  await visitor.heading('Queue')
})
