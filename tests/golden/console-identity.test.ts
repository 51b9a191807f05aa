// Rights in a browser: roles in a scope, service accounts with trusts, and the login page.
import { randomBytes } from 'node:crypto'
import { expect, test } from '@jest/globals'
import { createAction, deploymentEnd, openTenant } from '@slipway/testing'
import { Stage } from '../console/stage.ts'

const stage = new Stage(openTenant)

test('a user deploys where a role in a scope allows it, and reads why not elsewhere', async () => {
  const staging = (await stage.create('/environments', { name: 'shallows' })).id
  const production = (await stage.create('/environments', { name: 'deep sea' })).id
  const allowed = await stage.ground.createLocalTarget({ name: 'raft', environment_id: staging })
  const denied = await stage.ground.createLocalTarget({ name: 'liner', environment_id: production })
  const id = await createAction(stage.api, {}, 'float')
  const role_bindings = [{ role: 'operator', environment_ids: [staging] }]
  const account = await stage.createAccount([], { role_bindings })

  const visitor = await stage.arrive()
  const { page } = visitor
  const deploy = (target: string) => `/deploy?kind=action&id=${id}&targets=${target}`
  await visitor.login(account, deploy(denied), 'Deploy')
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
  const description = /only for other environments/
  await page.getByRole('button', { name: 'Deploy to it', description }).waitFor()
  await page.getByRole('button', { name: 'Edit the tags', description }).waitFor()

  await visitor.open(deploy(allowed))
  await visitor.button('Preview').click()
  await visitor.button('Start').click()
  await page.waitForURL(/\/deployments\//)
  await deploymentEnd(stage.api, new URL(page.url()).pathname.split('/').at(-1) ?? '')
  await visitor.goTo('Account')
  await visitor.sees('operator in shallows')
})

test('a service account gets a role in a scope and a trust', async () => {
  await stage.create('/environments', { name: 'lagoon' })
  const visitor = await stage.login('/users', 'Users')
  const { page } = visitor
  const dialog = page.getByRole('dialog')
  const name = `pipeline-${randomBytes(4).toString('hex')}`
  await visitor.button('New service account').click()
  await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill(name)
  await visitor.button('Add a role in a scope').click()
  await visitor.choose('Role', 'operator')
  await visitor.choose('Environments', 'lagoon')
  await visitor.button('Create').click()
  await visitor.heading(name)
  await visitor.sees('operator in lagoon')
  await visitor.button('New trust').click()
  await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill('releases')
  await dialog.getByLabel('Repository').fill('acme/ferry')
  await dialog.getByLabel('Name of the environment').fill('lagoon')
  await visitor.expectAccessible()
  await visitor.button('Create').click()
  await page.getByRole('row', { name: /^releases .* repository: acme\/ferry environment: lagoon/ }).waitFor()
  await visitor.expectToFit()
  const { body } = await stage.api.get(`/admin/users?search=${name}`)
  expect(body.data[0]).toMatchObject({ kind: 'service', email: null, roles: [] })
})

test('the login page says why a login with a provider failed', async () => {
  const visitor = await stage.arrive()
  await visitor.open('/login?error=no_rights&provider=harbour')
  await visitor.page
    .getByRole('alert')
    .getByText(/^Your account at the provider has no rights here\./)
    .waitFor()
  await visitor.expectAccessibleInBothThemes()
  await visitor.giveCredentials(stage.account)
  await visitor.heading('Now')
})

test('the audit log leaves out refreshes of sessions unless asked', async () => {
  const visitor = await stage.login('/', 'Now')
  const { page } = visitor
  // Each page begins with a refresh.
  await visitor.open('/audit')
  const action = (name: string) => page.getByRole('button', { name, exact: true }).first()
  await action('auth.login').waitFor()
  expect(await action('auth.refresh').count()).toBe(0)
  await page.getByRole('switch', { name: 'Show refreshes of sessions' }).click()
  await action('auth.refresh').waitFor()
  expect(new URL(page.url()).search).toBe('?refreshes=shown')
})
