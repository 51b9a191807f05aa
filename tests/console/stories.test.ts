// Deployments in a real browser against the whole suite: from the form to the log.
import { describe, expect, test } from '@jest/globals'
import {
  connectTo,
  createAction,
  createGate,
  createLocalTarget,
  deploymentEnd,
  logHistory,
  waitFor,
} from '@slipway/testing'
import { PHONE } from './browser.ts'
import { Stage } from './stage.ts'

const stage = new Stage({ capacity: 1 })

describe('a deployment', () => {
  test('can be prepared, previewed and started', async () => {
    const action_id = await createAction(stage.api, { script: 'echo "started from the console"' })
    const target = await createLocalTarget(stage.api)
    const visitor = await stage.arrive()
    const { page } = visitor
    await visitor.login(stage.suite.admin, `/deploy?kind=action&id=${action_id}&targets=${target}`, 'Deploy')
    await visitor.sees('Selects 1 target')
    await page.getByRole('button', { name: 'Preview', exact: true }).click()
    await page.getByRole('button', { name: 'Start' }).click()
    await page.waitForURL((url) => url.pathname.startsWith('/deployments/'))
    const id = new URL(page.url()).pathname.split('/').at(-1) ?? ''
    await page.getByRole('tab', { name: 'Log' }).click()
    await visitor.sees('started from the console')
    await deploymentEnd(stage.api, id)
  })

  test('shows each log line once, although log-stream and gateway are killed meanwhile', async () => {
    const id = await stage.deploy('for i in $(seq 1 60); do echo "counted $i"; sleep 0.15; done')
    const visitor = await stage.arrive()
    const { page } = visitor
    await visitor.login(stage.suite.admin, `/deployments/${id}?tab=log`)
    await visitor.sees(/counted \d/)
    await stage.suite.kill('log-stream')
    await stage.suite.start('log-stream')
    // Only the lines in view are drawn. On a busy machine a given line may have passed already.
    await visitor.sees(/counted (2[5-9]|[3-6]\d)/)
    await stage.suite.kill('gateway')
    await stage.suite.start('gateway')
    await visitor.sees('counted 60')
    await deploymentEnd(stage.api, id)
    await page.getByText('success', { exact: true }).first().waitFor()
    const lines = await logHistory(stage.api, id)
    await waitFor(async () => (await page.getByRole('status').first().textContent()) === `${lines.length} lines`)
    // Only the lines in view are drawn, so the test scrolls through the whole log.
    const seen = new Map<string, string>()
    const log = page.getByRole('log')
    for (let top = 0; seen.size < lines.length && top < 5_000; top += 200) {
      await log.evaluate((element, y) => {
        element.scrollTop = y
      }, top)
      await page.waitForTimeout(50)
      const rows = await log
        .locator('.log-line')
        .evaluateAll((all) =>
          all.map((row) => [row.children[0]?.textContent ?? '', row.children[2]?.textContent ?? '']),
        )
      for (const [number = '', text = ''] of rows) seen.set(number, text)
    }
    expect([...seen].sort(([a], [b]) => Number(a) - Number(b))).toEqual(
      lines.map(({ message }, number) => [String(number), message]),
    )
  })

  test('has links to the lines of its log, and a search for lines', async () => {
    const id = await stage.deploy('seq 1 3000')
    await deploymentEnd(stage.api, id)
    const visitor = await stage.arrive()
    const { page } = visitor
    await visitor.login(stage.suite.admin, `/deployments/${id}?line=2000`)
    await page.locator('.log-line[data-chosen=true]').waitFor()
    expect(await page.locator('.log-line[data-chosen=true] .log-number').textContent()).toBe('2000')
    await page.getByLabel('Search the log').fill('2999')
    await visitor.sees(/^1 line matches$/)
    await page.locator('[data-testid=log-text]', { hasText: '2999' }).waitFor()
    await page.getByRole('link', { name: 'Link to line 2998' }).click()
    await page.getByLabel('Search the log').fill('')
    await page.locator('.log-line[data-chosen=true]', { hasText: '2999' }).waitFor()
    expect(page.url()).toContain('line=2998')
  })

  test('whose first lines were dropped by retention shows the others under their numbers', async () => {
    const id = await stage.deploy('seq 1 3000')
    await deploymentEnd(stage.api, id)
    const database = await connectTo(stage.suite.databaseUrl)
    await database.query('DELETE FROM log_chunks WHERE deployment_id = $1 AND first_line = 0', [id])
    await database.end()
    const visitor = await stage.arrive()
    const { page } = visitor
    await visitor.login(stage.suite.admin, `/deployments/${id}?line=0`)
    await page.locator('.log-line[data-chosen=true]', { hasText: '(no longer stored)' }).waitFor()
    await page.getByLabel('Line', { exact: true }).fill('2900')
    await page.locator('.log-line[data-chosen=true]', { hasText: '2901' }).waitFor()
  })

  test('can show only the log lines of a step or of a level', async () => {
    const id = await stage.deploy('echo fine; echo broken >&2')
    await deploymentEnd(stage.api, id)
    const visitor = await stage.arrive()
    const { page } = visitor
    await visitor.login(stage.suite.admin, `/deployments/${id}`)
    await page.locator('[data-state=completed]').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Show its log' }).click()
    await visitor.sees(/^2 lines match$/)
    await page.getByLabel('Level', { exact: true }).first().click()
    await page.getByRole('option', { name: 'error' }).click()
    await visitor.sees(/^1 line matches$/)
    expect(await page.getByTestId('log-text').allTextContents()).toEqual(['broken'])
    await page.reload()
    await visitor.sees(/^1 line matches$/)
    expect(await page.getByText('slipway logs').textContent()).toMatch(/--target \S+ --action \S+ --level error$/)
  })

  test('can be cancelled with a reason, which its time line shows', async () => {
    const id = await stage.deploy('sleep 600')
    const visitor = await stage.arrive()
    const { page } = visitor
    await visitor.login(stage.suite.admin, `/deployments/${id}`)
    await page.getByRole('button', { name: 'Cancel deployment' }).click()
    await page.getByLabel('Reason').fill('wrong version')
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel deployment' }).click()
    await visitor.sees(/cancelled by admin \(wrong version\)/)
    expect((await deploymentEnd(stage.api, id)).state).toBe('cancelled')
  })

  test('that failed shows the failures in groups, and can be retried for the failed targets', async () => {
    const id = await stage.deploy('echo "no space left on device" >&2; exit 1')
    await deploymentEnd(stage.api, id)
    const visitor = await stage.arrive()
    const { page } = visitor
    await visitor.login(stage.suite.admin, `/deployments/${id}?tab=failures`)
    await page.getByRole('heading', { level: 2, name: 'The disk is full' }).waitFor()
    await page.getByRole('button', { name: 'Retry what did not succeed' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText(/1 step on 1 target,/).waitFor()
    await dialog.getByRole('button', { name: 'Retry what did not succeed' }).click()
    await page.waitForURL((url) => url.pathname.startsWith('/deployments/') && !url.pathname.endsWith(id))
    await deploymentEnd(stage.api, new URL(page.url()).pathname.split('/').at(-1) ?? '')
  })

  test('updates the steps of its grid while it runs', async () => {
    const gate = createGate(stage.suite)
    const id = await stage.deploy(gate.script)
    const visitor = await stage.arrive()
    const { page } = visitor
    await visitor.login(stage.suite.admin, `/deployments/${id}`)
    await page.locator('[data-state=running]').waitFor()
    gate.open()
    await page.locator('[data-state=completed]').waitFor()
    await page.locator('[data-state=completed]').click()
    await page.getByRole('dialog').getByText('Exit code').waitFor()
  })
})

test('a pending request can get another priority and be cancelled', async () => {
  const running = await stage.deploy('sleep 600')
  await stage.deploy('true')
  const visitor = await stage.arrive()
  const { page } = visitor
  await visitor.login(stage.suite.admin, '/queue', 'Queue')
  await page.getByRole('button', { name: 'Change priority' }).click()
  await page.getByRole('textbox', { name: 'Priority' }).fill('7')
  await page.getByRole('dialog').getByRole('button', { name: 'Change priority' }).click()
  await page.getByRole('cell', { name: '7', exact: true }).waitFor()
  await page.getByRole('button', { name: 'Cancel request' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel request' }).click()
  await visitor.sees('Nothing waits')
  await stage.api.post(`/deployments/${running}/cancel`)
  await deploymentEnd(stage.api, running)
})

test('Ctrl-K opens a screen with the keyboard only', async () => {
  const visitor = await stage.arrive()
  const { page } = visitor
  await visitor.login(stage.suite.admin, '/', 'Now')
  await page.keyboard.press('Control+k')
  await page.getByLabel('Screen, deployment or target').fill('audit')
  await page.keyboard.press('Enter')
  await visitor.heading('Audit')
})

test('an unknown address shows an error with a link back', async () => {
  const visitor = await stage.arrive()
  const { page } = visitor
  await visitor.login(stage.suite.admin, '/no/such/screen', 'Nothing is here')
  await page.getByRole('link', { name: 'Go to what is running now' }).click()
  await visitor.heading('Now')
})

test('a change in one tab appears in the other tabs', async () => {
  const id = await stage.deploy('sleep 600')
  const visitor = await stage.arrive()
  await visitor.login(stage.suite.admin, `/deployments/${id}`)
  const list = await visitor.openTab('/deployments?state=cancelled')
  await list.getByRole('heading', { level: 1, name: 'Deployments' }).waitFor()
  expect(await list.locator(`a[href="/deployments/${id}"]`).count()).toBe(0)
  const tab = await visitor.openTab(`/deployments/${id}`)
  await tab.getByRole('button', { name: 'Cancel deployment' }).waitFor()
  await visitor.confirm('Cancel deployment')
  await list.locator(`a[href="/deployments/${id}"]`).waitFor()
  await tab.getByText(/cancelled by admin/).waitFor()
  await tab.getByRole('button', { name: 'Cancel deployment' }).waitFor({ state: 'detached' })
})

test('a phone can be used from the login to the log of a deployment', async () => {
  const id = await stage.deploy(
    `echo "seen on a phone, in a line that is wider than its screen by far: ${'-'.repeat(80)}"`,
  )
  await deploymentEnd(stage.api, id)
  const visitor = await stage.arrive(PHONE)
  const { page } = visitor
  await visitor.open('/')
  await page.getByLabel('E-mail').waitFor()
  await visitor.expectToFit()
  await visitor.giveCredentials(stage.suite.admin)
  await visitor.heading('Now')
  await visitor.expectToFit()
  await visitor.button('Menu').click()
  await visitor.goTo('Deployments')
  await visitor.expectToFit()
  await page.locator(`a[href="/deployments/${id}"]`).click()
  await page.getByRole('tab', { name: 'Log' }).click()
  await page.locator('[data-testid=log-text]', { hasText: 'seen on a phone' }).first().waitFor()
  await visitor.expectToFit()
  await visitor.expectAccessible()
})
