// Checks every screen of the console by the rules of WCAG 2, levels A and AA, in both themes.
import { beforeAll, test } from '@jest/globals'
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

test('every screen is accessible in both themes', async () => {
  const visitor = await stage.arrive()
  const { page } = visitor
  await visitor.open('/')
  await page.getByLabel('E-mail').waitFor()
  await visitor.expectAccessibleInBothThemes()
  await visitor.login(stage.suite.admin, '/', 'Now')
  for (const screen of SCREENS) {
    await visitor.goTo(screen)
    await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' })
    await visitor.expectAccessibleInBothThemes()
  }
  for (const address of ['/releases', '/deployments?version=1.0.0', `/targets/${target}`]) {
    await visitor.open(address)
    await page.locator('tbody tr').first().waitFor()
    await visitor.expectAccessibleInBothThemes()
  }
})

test('all tabs of a deployment are accessible in both themes', async () => {
  const visitor = await stage.arrive()
  const { page } = visitor
  await visitor.login(stage.suite.admin, `/deployments/${failed}`)
  for (const tab of ['Steps', 'Log', 'Changes', 'Failures', 'Configuration', 'Audit']) {
    await page.getByRole('tab', { name: tab }).click()
    await page.waitForTimeout(300)
    await visitor.expectAccessibleInBothThemes()
  }
})
