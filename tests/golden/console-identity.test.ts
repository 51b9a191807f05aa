// Rights in a browser: service accounts with bindings and trusts, and what a user may do in a scope only.
import { expect, test } from '@jest/globals'
import { createAction, openTenant } from '@slipway/testing'
import { Stage } from '../console/stage.ts'

const stage = new Stage(openTenant)

test('a user deploys where a binding allows it, and reads why not elsewhere', async () => {
  const staging = (await stage.create('/environments', { name: 'shallows' })).id
  const production = (await stage.create('/environments', { name: 'deep sea' })).id
  const allowed = await stage.ground.createLocalTarget({ name: 'raft', environment_id: staging })
  const denied = await stage.ground.createLocalTarget({ name: 'liner', environment_id: production })
  const id = await createAction(stage.api, {}, 'float')
  const role_bindings = [{ role: 'operator', environment_ids: [staging] }]
  const account = await stage.createAccount([], { role_bindings })

  const visitor = await stage.arrive()
  const { page } = visitor
  await visitor.login(account, `/deploy?kind=action&id=${id}&targets=${denied}`, 'Deploy')
  await page
    .getByRole('status')
    .getByText(/^You may not start this: .*"deep sea"/)
    .waitFor()
  const preview = visitor.button('Preview')
  expect(await preview.getAttribute('aria-disabled')).toBe('true')
  await preview.press('Tab')
  await page.keyboard.press('Shift+Tab')
  await page
    .getByRole('tooltip')
    .getByText(/deep sea/)
    .waitFor()
  await visitor.expectAccessible()

  await visitor.open(`/targets/${denied}`)
  await visitor.heading('liner')
  await page.getByRole('button', { name: 'Deploy to it', description: /only for other environments/ }).waitFor()
  await visitor.open(`/targets/${allowed}`)
  await page.getByRole('link', { name: 'Deploy to it' }).click()
  await visitor.heading('Deploy')
})
