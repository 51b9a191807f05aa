// Every screen of the console by the rules of WCAG 2, A and AA, in both themes.
import { beforeAll, describe, test } from '@jest/globals'
import { deploymentEnd } from '@slipway/testing'
import { SCREENS } from './browser.ts'
import { Stage } from './stage.ts'

const stage = new Stage()
let failed: string
let target: string

beforeAll(async () => {
  failed = await stage.deploy('echo hello; echo trouble >&2; exit 1')
  target = (await deploymentEnd(stage.api, failed)).plan.steps[0].target_id
})

describe.each(['light', 'dark'] as const)('every screen in the %s theme', (colorScheme) => {
  test('keeps nobody out', async () => {
    const visitor = await stage.arrive()
    const { page } = visitor
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await visitor.open('/')
    await page.getByLabel('E-mail').waitFor()
    await visitor.expectAccessible()
    await visitor.login(stage.suite.admin, '/', 'Now')
    for (const screen of SCREENS) {
      await visitor.goTo(screen)
      await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' })
      await visitor.expectAccessible()
    }
    for (const address of ['/releases', '/deployments?version=1.0.0', `/targets/${target}`]) {
      await visitor.open(address)
      await page.locator('tbody tr').first().waitFor()
      await visitor.expectAccessible()
    }
  })

  test('and a deployment with its log', async () => {
    const visitor = await stage.arrive()
    const { page } = visitor
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await visitor.login(stage.suite.admin, `/deployments/${failed}`)
    for (const tab of ['Steps', 'Log', 'Changes', 'Failures', 'Configuration', 'Audit']) {
      await page.getByRole('tab', { name: tab }).click()
      await page.waitForTimeout(300)
      await visitor.expectAccessible()
    }
  })
})
