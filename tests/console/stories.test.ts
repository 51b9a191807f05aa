// The console in a real browser, against the whole suite.
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import {
  type Api,
  createAction,
  createLocalTarget,
  deploymentEnd,
  logHistory,
  loginToSuite,
  type Suite,
  startSuite,
  waitFor,
} from '@slipway/testing'
import type { Browser } from 'playwright-core'
import { launch, Visitor } from './browser.ts'

let suite: Suite
let api: Api
let browser: Browser
let visitor: Visitor

beforeAll(async () => {
  ;[suite, browser] = await Promise.all([startSuite({ capacity: 1 }), launch()])
  api = await loginToSuite(suite)
}, 120_000)
afterEach(async () => {
  await visitor?.leave()
  await suite.restore()
})
afterAll(async () => {
  await browser?.close()
  await suite?.stop()
}, 60_000)

const arrive = async (size?: { width: number; height: number }) => {
  visitor = await Visitor.arrive(browser, suite, size)
  return visitor
}

async function start(script: string, more: Record<string, unknown> = {}): Promise<string> {
  const action_id = await createAction(api, { script })
  const target = await createLocalTarget(api)
  const { body } = await api.post('/deployments', { action_id, target_ids: [target], ...more })
  return String(body.deployment_id ?? body.pending_request_id)
}

describe('logging in', () => {
  test('a wrong password says so, with code and request id; the right one leads to the address that was asked for', async () => {
    const { page } = await arrive()
    await visitor.open('/queue')
    await page.getByLabel('E-mail').fill(suite.admin.email)
    await page.locator('input[type=password]').fill('not the password')
    await page.getByRole('button', { name: 'Log in' }).click()
    await visitor.sees('INVALID_CREDENTIALS')
    await page.locator('input[type=password]').fill(suite.admin.password)
    await page.getByRole('button', { name: 'Log in' }).click()
    await visitor.heading('Queue')
  })

  test('a reload keeps the session; logging out ends it in every tab', async () => {
    // Logging out ends every session of a user: this one is nobody else's.
    const account = { email: 'leaver@example.com', password: 'long-enough-password' }
    await api.post('/admin/users', { ...account, username: 'leaver', roles: ['user'] })
    const { page, context } = await arrive()
    await visitor.login(account, '/', 'Now')
    await page.reload()
    await visitor.heading('Now')
    const second = await context.newPage()
    visitor.watch(second)
    await second.goto(`${suite.url}/deployments`)
    await second.getByRole('heading', { level: 1, name: 'Deployments' }).waitFor()
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.getByLabel('E-mail').waitFor()
    await second.reload()
    await second.getByLabel('E-mail').waitFor()
  })

  test('two tabs that renew the session at the same time both stay logged in', async () => {
    const { page, context } = await arrive()
    await visitor.login(suite.admin, '/', 'Now')
    const second = await context.newPage()
    visitor.watch(second)
    await second.goto(suite.url)
    for (let i = 0; i < 3; i += 1) {
      await Promise.all([page.reload(), second.reload()])
      for (const tab of [page, second]) await tab.getByRole('heading', { level: 1, name: 'Now' }).waitFor()
    }
  })
})

describe('a deployment', () => {
  test('is prepared, looked at and started', async () => {
    const action_id = await createAction(api, { script: 'echo "started from the console"' })
    const target = await createLocalTarget(api)
    const { page } = await arrive()
    await visitor.login(suite.admin, `/deploy?kind=action&id=${action_id}&targets=${target}`, 'Deploy')
    await visitor.sees('Selects 1 target')
    await page.getByRole('button', { name: 'Preview', exact: true }).click()
    await page.getByRole('button', { name: 'Start' }).click()
    await page.waitForURL((url) => url.pathname.startsWith('/deployments/'))
    const id = new URL(page.url()).pathname.split('/').at(-1) ?? ''
    await page.getByRole('tab', { name: 'Log' }).click()
    await visitor.sees('started from the console')
    await deploymentEnd(api, id)
  })

  test('is watched line by line while log-stream and gateway are killed: none is missing or doubled', async () => {
    const id = await start('for i in $(seq 1 60); do echo "counted $i"; sleep 0.15; done')
    const { page } = await arrive()
    await visitor.login(suite.admin, `/deployments/${id}?tab=log`)
    await visitor.sees(/counted \d/)
    await suite.kill('log-stream')
    await suite.start('log-stream')
    // Only the lines in view are drawn: on a busy machine this one may have passed.
    await visitor.sees(/counted (2[5-9]|[3-6]\d)/)
    await suite.kill('gateway')
    await suite.start('gateway')
    await visitor.sees('counted 60')
    await deploymentEnd(api, id, 60_000)
    await page.getByText('success', { exact: true }).first().waitFor()
    const lines = await logHistory(api, id)
    await waitFor(async () => (await page.getByRole('status').first().textContent()) === `${lines.length} lines`)
    // The viewer draws what is in view: each part of the log is looked at in turn.
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
  }, 120_000)

  test('shows markup and escape sequences in names and output as text', async () => {
    const evil = '<img src=x onerror="window.broken=1">'
    const action_id = await createAction(
      api,
      { script: `printf '\\033]8;;javascript:alert(1)\\007%s\\n' '${evil}'` },
      evil,
    )
    const target = await createLocalTarget(api, { name: `<script>window.broken=1</script>` })
    const { body } = await api.post('/deployments', { action_id, target_ids: [target] })
    await deploymentEnd(api, body.deployment_id)
    const { page } = await arrive()
    await visitor.login(suite.admin, `/deployments/${body.deployment_id}`)
    await visitor.sees('<script>window.broken=1</script>')
    await page.getByRole('tab', { name: 'Log' }).click()
    await page.locator('[data-testid=log-text]', { hasText: evil }).first().waitFor()
    expect(await page.evaluate('window.broken')).toBeUndefined()
    expect(await page.locator('main img').count()).toBe(0)
  })

  test('a link leads to a line of its log, and a search finds lines', async () => {
    const id = await start('seq 1 3000')
    await deploymentEnd(api, id)
    const { page } = await arrive()
    await visitor.login(suite.admin, `/deployments/${id}?line=2000`)
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

  test('its log shows the lines of a step and of a level', async () => {
    const id = await start('echo fine; echo broken >&2')
    await deploymentEnd(api, id)
    const { page } = await arrive()
    await visitor.login(suite.admin, `/deployments/${id}`)
    await page.locator('[data-state=completed]').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Show its log' }).click()
    await visitor.sees(/^2 lines match$/)
    await page.getByLabel('Level', { exact: true }).first().click()
    await page.getByRole('option', { name: 'error' }).click()
    await visitor.sees(/^1 line matches$/)
    expect(await page.getByTestId('log-text').allTextContents()).toEqual(['broken'])
  })

  test('is cancelled with a reason, which its time line tells', async () => {
    const id = await start('sleep 600')
    const { page } = await arrive()
    await visitor.login(suite.admin, `/deployments/${id}`)
    await page.getByRole('button', { name: 'Cancel deployment' }).click()
    await page.getByLabel('Reason').fill('wrong version')
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel deployment' }).click()
    await visitor.sees(/cancelled by admin \(wrong version\)/)
    expect((await deploymentEnd(api, id)).state).toBe('cancelled')
  })

  test('that failed says why in groups, and runs again for what did not succeed', async () => {
    const id = await start('echo "no space left on device" >&2; exit 1')
    await deploymentEnd(api, id)
    const { page } = await arrive()
    await visitor.login(suite.admin, `/deployments/${id}?tab=failures`)
    await page.getByRole('heading', { level: 2, name: 'The disk is full' }).waitFor()
    await page.getByRole('button', { name: 'Retry what did not succeed' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText(/1 steps on 1 targets/).waitFor()
    await dialog.getByRole('button', { name: 'Retry what did not succeed' }).click()
    await page.waitForURL((url) => url.pathname.startsWith('/deployments/') && !url.pathname.endsWith(id))
    await deploymentEnd(api, new URL(page.url()).pathname.split('/').at(-1) ?? '')
  })

  test('goes through the steps of its grid while it runs', async () => {
    const id = await start('sleep 8')
    const { page } = await arrive()
    await visitor.login(suite.admin, `/deployments/${id}`)
    await page.locator('[data-state=running]').waitFor()
    await page.locator('[data-state=completed]').waitFor()
    await page.locator('[data-state=completed]').click()
    await page.getByRole('dialog').getByText('Exit code').waitFor()
  })
})

test('a request that waits says why, changes its priority and is taken out of the queue', async () => {
  const running = await start('sleep 600')
  await start('true')
  const { page } = await arrive()
  await visitor.login(suite.admin, '/queue', 'Queue')
  await page.getByRole('button', { name: 'Change priority' }).click()
  await page.getByRole('textbox', { name: 'Priority' }).fill('7')
  await page.getByRole('dialog').getByRole('button', { name: 'Change priority' }).click()
  await page.getByRole('cell', { name: '7', exact: true }).waitFor()
  await page.getByRole('button', { name: 'Cancel request' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel request' }).click()
  await visitor.sees('Nothing waits')
  await api.post(`/deployments/${running}/cancel`)
  await deploymentEnd(api, running)
})

test('whoever may only look sees no buttons that change anything', async () => {
  const account = { email: 'onlooker@example.com', password: 'long-enough-password' }
  await api.post('/admin/users', { ...account, username: 'onlooker', roles: ['user'] })
  const { page } = await arrive()
  await visitor.login(account, '/', 'Now')
  const menu = page.getByRole('navigation', { name: 'Screens' })
  await menu.getByText('Deployments').waitFor()
  expect(await menu.getByText('Deploy', { exact: true }).count()).toBe(0)
  expect(await menu.getByText('Users').count()).toBe(0)
  expect(await page.getByRole('link', { name: 'Deploy', exact: true }).count()).toBe(0)
})

test('Ctrl-K goes to a screen by the keyboard alone', async () => {
  const { page } = await arrive()
  await visitor.login(suite.admin, '/', 'Now')
  await page.keyboard.press('Control+k')
  await page.getByLabel('Screen, deployment or target').fill('audit')
  await page.keyboard.press('Enter')
  await visitor.heading('Audit')
})

test('an address that leads nowhere says so, and leads back', async () => {
  const { page } = await arrive()
  await visitor.login(suite.admin, '/no/such/screen', 'Nothing is here')
  await page.getByRole('link', { name: 'Go to what is running now' }).click()
  await visitor.heading('Now')
})

test('a narrow window has a menu that opens', async () => {
  const { page } = await arrive({ width: 400, height: 700 })
  await visitor.login(suite.admin, '/', 'Now')
  await page.getByRole('button', { name: 'Menu' }).click()
  await page.getByRole('navigation', { name: 'Screens' }).getByText('Targets').click()
  await visitor.heading('Targets')
})
