// The frame around all screens in a browser: without a network, what it costs, where the focus goes, and what has ended.
import { expect, test } from '@jest/globals'
import { createAction, createGate, openTenant } from '@slipway/testing'
import { Stage } from '../console/stage.ts'

const stage = new Stage(openTenant)

const SILENCE = /^No answer from the server since \d\d:\d\d:\d\d\. It tries again\.$/

test('without a network one banner says so, what was read stays, and a screen that is not loaded comes with the network', async () => {
  await stage.create('/environments', { name: 'lighthouse' })
  const visitor = await stage.arrive()
  const { page, context } = visitor
  const code = /\/assets\/tenants-/
  await page.route(code, (route) => route.abort())
  await visitor.login(stage.account, '/environments', 'Environments')
  const row = page.getByRole('row', { name: /lighthouse/ })
  await row.waitFor()

  await context.setOffline(true)
  await page.getByRole('alert').getByText(SILENCE).waitFor()
  expect(await row.count()).toBe(1)
  await page.getByRole('navigation', { name: 'Screens' }).getByText('Tenants', { exact: true }).click()
  await visitor.heading('This screen did not load')
  await visitor.button('Try again').click()
  await visitor.heading('This screen did not load')
  expect(new URL(page.url()).pathname).toBe('/tenants')
  expect(await page.getByRole('alert').count()).toBe(1)
  await page.getByRole('navigation', { name: 'Screens' }).getByText('Environments', { exact: true }).click()
  await row.waitFor()
  await page.goBack()

  await page.unroute(code)
  await context.setOffline(false)
  await visitor.heading('Tenants')
  await page.getByRole('alert').waitFor({ state: 'detached' })
})

test('a screen whose files a new release has replaced offers to reload the page', async () => {
  const visitor = await stage.arrive()
  const { page } = visitor
  await page.route(/\/assets\/tenants-/, (route) => route.fulfill({ status: 404 }))
  await visitor.login(stage.account, '/', 'Now')
  await page.route(/:\d+\/$/, (route) => route.fulfill({ contentType: 'text/html', body: 'another release' }))
  await page.getByRole('navigation', { name: 'Screens' }).getByText('Tenants', { exact: true }).click()
  await visitor.sees(/has a newer release of the console/)
  await page.unrouteAll()
  await visitor.button('Reload').click()
  await visitor.heading('Tenants')
})

test('the first screen has at most 200 KB of scripts in at most 12 requests', async () => {
  const visitor = await stage.login('/', 'Now')
  const { page, context } = visitor
  const session = await context.newCDPSession(page)
  await session.send('Network.setCacheDisabled', { cacheDisabled: true })
  const files: { url: string; bytes: Promise<number> }[] = []
  page.on('requestfinished', (request) => {
    const { pathname } = new URL(request.url())
    if (pathname.startsWith('/api/')) return
    files.push({ url: pathname, bytes: request.sizes().then(({ responseBodySize }) => responseBodySize) })
  })
  await visitor.open('/')
  await visitor.heading('Now')
  const first = [...files]
  const scripts = await Promise.all(first.filter(({ url }) => url.endsWith('.js')).map(({ bytes }) => bytes))
  expect(scripts.length).toBeGreaterThan(0)
  expect(scripts.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThanOrEqual(200_000)
  expect(first.length).toBeLessThanOrEqual(12)
  await session.detach()
})

test('the keyboard skips the menu, and the focus goes to the title of each new screen', async () => {
  const visitor = await stage.login('/', 'Now')
  const { page } = visitor
  const focused = () => page.evaluate<string>('document.activeElement.id || document.activeElement.textContent')
  await visitor.open('/')
  await visitor.heading('Now')
  await page.keyboard.press('Tab')
  expect(await focused()).toBe('Skip to the content')
  await page.keyboard.press('Enter')
  expect(await focused()).toBe('content')
  await visitor.goTo('Targets')
  await page.locator('h1:focus', { hasText: 'Targets' }).waitFor()
  expect(await page.title()).toBe('Targets · Slipway')
  await page.getByRole('searchbox', { name: 'Search' }).fill('no such target')
  await page.waitForURL(/search=/)
  expect(await focused()).not.toBe('Targets')
})

test('the end of a deployment is told, and marked in the title until somebody looks', async () => {
  const gate = createGate(stage)
  const id = await stage.start({
    action_id: await createAction(stage.api, { ...gate, script: `${gate.script}; exit 3` }, 'ebb'),
    target_ids: [await stage.ground.createLocalTarget()],
  })
  const visitor = await stage.login(`/deployments/${id}`, 'ebb 1.0.0')
  const { page } = visitor
  await page.getByText('running', { exact: true }).first().waitFor()
  await page.evaluate('document.hasFocus = () => false')
  gate.open()
  await page.getByRole('status').getByText('ebb 1.0.0 failed').waitFor({ state: 'attached' })
  expect(await page.title()).toBe('✗ ebb 1.0.0 · Slipway')
  expect(await page.locator('link[rel=icon]').getAttribute('href')).toMatch(/^data:image\/svg/)
  await page.evaluate('delete document.hasFocus; window.dispatchEvent(new Event("focus"))')
  expect(await page.title()).toBe('ebb 1.0.0 · Slipway')
})

test('an idle screen asks the server at most twice in ten seconds', async () => {
  const visitor = await stage.arrive()
  const { page } = visitor
  let calls: { path: string; answer: Promise<unknown> }[] = []
  page.on('request', (request) => {
    const path = new URL(request.url()).pathname
    if (path.startsWith('/api/') && !path.endsWith('/health')) calls.push({ path, answer: request.response() })
  })
  const now = () => page.evaluate<number>('Date.now()')
  /** Moves the clock of the page, and waits for the answers to what it has asked. */
  const pass = async (seconds: number) => {
    for (let second = 0; second < seconds; second += 2) {
      await page.clock.runFor(2_000)
      await Promise.all(calls.map(({ answer }) => answer))
    }
  }

  await page.clock.install()
  await visitor.login(stage.account, '/', 'Now')
  for (const screen of ['Now', 'Targets']) {
    await visitor.goTo(screen)
    await visitor.settled()
    await pass(10)
    calls = []
    const from = await now()
    await pass(30)
    const most = 2 * Math.ceil(((await now()) - from) / 10_000)
    const made = calls.map(({ path }) => path)
    expect(made).not.toEqual([])
    expect(made).toEqual(made.slice(0, most))
  }
})
