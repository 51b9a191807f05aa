// Every screen of the console by the rules of WCAG 2, A and AA, in both themes.
import { afterAll, afterEach, beforeAll, describe, test } from '@jest/globals'
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

let suite: Suite
let api: Api
let browser: Browser
let visitor: Visitor
let failed: string

beforeAll(async () => {
  ;[suite, browser] = await Promise.all([startSuite(), launch()])
  api = await loginToSuite(suite)
  const action_id = await createAction(api, { script: 'echo hello; echo trouble >&2; exit 1' })
  const { body } = await api.post('/deployments', { action_id, target_ids: [await createLocalTarget(api)] })
  failed = body.deployment_id
  await deploymentEnd(api, failed)
}, 120_000)
afterEach(() => visitor?.leave())
afterAll(async () => {
  await browser?.close()
  await suite?.stop()
}, 60_000)

const SCREENS = [
  'Now',
  'Deployments',
  'Deploy',
  'Queue',
  'Targets',
  'Sources',
  'Freezes',
  'Environments',
  'Tenants',
  'Instances',
  'Webhooks',
  'Audit',
  'Users',
  'Roles',
  'Account',
]

describe.each(['light', 'dark'] as const)('every screen in the %s theme', (colorScheme) => {
  test('keeps nobody out', async () => {
    visitor = await Visitor.arrive(browser, suite)
    const { page } = visitor
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await visitor.open('/')
    await page.getByLabel('E-mail').waitFor()
    await visitor.expectAccessible()
    await visitor.login(suite.admin, '/', 'Now')
    for (const screen of SCREENS) {
      await page.getByRole('navigation', { name: 'Screens' }).getByText(screen, { exact: true }).click()
      await visitor.heading(screen)
      await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' })
      await visitor.expectAccessible()
    }
  }, 120_000)

  test('and a deployment with its log', async () => {
    visitor = await Visitor.arrive(browser, suite)
    const { page } = visitor
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await visitor.login(suite.admin, `/deployments/${failed}`)
    for (const tab of ['Steps', 'Log', 'Failures', 'Configuration', 'Audit']) {
      await page.getByRole('tab', { name: tab }).click()
      await page.waitForTimeout(300)
      await visitor.expectAccessible()
    }
  }, 60_000)
})
