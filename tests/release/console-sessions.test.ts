// Sessions in a browser: password, second factor, login providers, the end of a session, and what each role and each tenant sees.
import fs from 'node:fs'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  createAction,
  createGate,
  deploymentEnd,
  openTenant,
  type Suite,
  startSharedSuite,
  steadyClock,
  type TestTenant,
  totp,
  waitForValue,
} from '@slipway/testing'
import { type OidcProvider, startOidcProvider } from '@slipway/testing/oidc'
import { SCREENS, type Visitor } from '../console/browser.ts'
import { Stage } from '../console/stage.ts'

const OVER = 'Your session has ended'

let suite: Suite
let other: TestTenant
beforeAll(async () => {
  suite = await startSharedSuite()
  other = await openTenant()
})
afterAll(() => suite?.stop())
const stage = new Stage(openTenant)

test('a login needs the password and, once set up, the second factor, which a recovery code replaces once', async () => {
  const account = await stage.createAccount(['user'])
  const visitor = await stage.arrive()
  const { page } = visitor
  await visitor.open('/account')
  await visitor.giveCredentials({ ...account, password: 'not the password' })
  await visitor.sees('INVALID_CREDENTIALS')
  await visitor.giveCredentials(account)
  await visitor.heading('Account')

  await visitor.button('Set up').click()
  await page.getByRole('img', { name: /QR code/ }).waitFor()
  const secret = (await page.getByTestId('totp-secret').textContent()) ?? ''
  expect(await page.getByRole('link', { name: 'open the authenticator' }).getAttribute('href')).toContain(secret)
  await steadyClock()
  await page.getByLabel('2. Code').fill(totp(secret, -1))
  await visitor.button('Enable').click()
  const codes = ((await page.getByTestId('shown-once').textContent()) ?? '').split('\n')
  expect(codes).toHaveLength(10)
  await visitor.button('I have stored it').click()

  const giveCode = async (code: string) => {
    await page.getByLabel('Code').fill(code)
    await visitor.button('Confirm').click()
  }
  const leaveAndReturn = async () => {
    await visitor.button('Log out').click()
    await visitor.giveCredentials(account)
  }
  await leaveAndReturn()
  await giveCode('no code')
  await visitor.sees('INVALID_CREDENTIALS')
  await steadyClock()
  await giveCode(totp(secret))
  await visitor.heading('Now')
  const [first = '', second = ''] = codes
  await leaveAndReturn()
  await giveCode(first)
  await visitor.heading('Now')
  await leaveAndReturn()
  await giveCode(first)
  await visitor.sees('INVALID_CREDENTIALS')
  await giveCode(second)
  await visitor.goTo('Account')
  await visitor.button('Disable two-factor authentication').click()
  await page
    .getByRole('dialog')
    .getByLabel('Code')
    .fill(codes[2] ?? '')
  await page.keyboard.press('Enter')
  await visitor.button('Set up').waitFor()
})

const sailor = {
  username: 'sailor',
  password: 'aye aye',
  claims: { groups: ['sailors'], preferred_username: 'sailor' },
}

/** Starts a login provider, and waits until the gateway knows it. */
async function openHarbour(): Promise<OidcProvider> {
  const { url, providersFile } = stage.ground.suite
  const client = { client_id: 'slipway', client_secret: 'known to both' }
  const redirect_uris = [`${url}/api/v1/auth/oidc/harbour/callback`]
  const provider = await startOidcProvider({ users: [sailor], clients: [{ ...client, redirect_uris }] })
  const rules = [{ claim: 'groups', value: 'sailors', roles: ['user'] }]
  const providers = [{ id: 'harbour', name: 'Harbour', issuer: provider.issuer, ...client, rules }]
  fs.writeFileSync(providersFile, JSON.stringify({ providers }))
  await waitForValue(
    'the gateway to know the provider',
    async () => (await stage.api.get('/auth/providers')).body.providers.length,
    (count) => count === 1,
  )
  return provider
}

test('a login with a provider leads to the wanted address, and a failed one says with which provider', async () => {
  const provider = await openHarbour()
  const visitor = await stage.arrive()
  const { page } = visitor
  try {
    await visitor.open('/targets?status=offline')
    await page.getByRole('link', { name: 'Log in with Harbour' }).click()
    await page.locator('[name=username]').fill(sailor.username)
    await page.locator('[name=password]').fill(sailor.password)
    await page.keyboard.press('Enter')
    await visitor.heading('Targets')
    expect(new URL(page.url()).searchParams.get('status')).toBe('offline')
    await visitor.goTo('Account')
    await visitor.sees('harbour, as sailor')
    await visitor.button('Log out').click()
    // The logout ends with a navigation, which would abort the next one.
    await page.getByRole('link', { name: 'Log in with Harbour' }).waitFor()
    visitor.origins.delete(provider.issuer)
  } finally {
    await provider.close()
  }
  await visitor.open('/login?error=provider_unavailable&provider=harbour')
  await page.getByRole('alert').getByText('The login with Harbour did not work').waitFor()
  await visitor.sees(/^The provider does not answer\./)
  await visitor.expectAccessibleInBothThemes()
  fs.writeFileSync(stage.ground.suite.providersFile, JSON.stringify({ providers: [] }))

  const admin = await stage.arrive()
  await admin.login(suite.admin, '/users?search=sailor', 'Users')
  await admin.page.getByRole('row', { name: /sailor .* harbour active/ }).waitFor()
  await admin.page.getByRole('button', { name: /^Edit sailor/ }).click()
  await admin.sees('The provider harbour gives roles and tenant')
  await admin.expectAccessible()
})

test('a new password ends the session over typed input, and the next user sees nothing of it', async () => {
  const account = await stage.createAccount(['operator'])
  const visitor = await stage.arrive()
  const { page } = visitor
  await visitor.login(account, '/deploy', 'Deploy')
  const requirement = page.getByRole('combobox', { name: 'Version', exact: true })
  await requirement.fill('^7.7.7')

  const elsewhere = await stage.arrive()
  await elsewhere.login(account, '/account', 'Account')
  const password = 'another-long-password'
  await elsewhere.page.getByLabel('Current password').fill(account.password)
  await elsewhere.page.getByLabel(/^New password( \*)?$/).fill(password)
  await elsewhere.page.getByLabel('New password again').fill(password)
  await elsewhere.button('Change password').click()
  await elsewhere.page.getByRole('region', { name: 'Password' }).getByRole('status').waitFor()
  await page.keyboard.press('Control+k')
  await page.getByLabel('Screen, deployment or target').fill('typed in the palette')
  await visitor.sees(OVER)
  expect(await page.locator('input').count()).toBe(2)
  expect(await page.getByText(account.username).count()).toBe(0)
  // The window that changed the password keeps its session.
  await elsewhere.goTo('Deployments')

  await visitor.giveCredentials(await stage.createAccount(['operator']))
  await visitor.heading('Deploy')
  expect(await requirement.inputValue()).toBe('')
  expect(await page.getByRole('dialog').count()).toBe(0)
})

test('tabs share a session: they renew it at the same time, a logout ends it over a live log, and a login returns to the log', async () => {
  const gate = createGate(stage)
  const id = await stage.deploy(`echo begun; ${gate.script}; echo ended`)
  const account = await stage.createAccount(['user'])
  const visitor = await stage.arrive()
  await visitor.login(account, '/', 'Now')
  const log = await visitor.openTab(`/deployments/${id}?tab=log`)
  await log.getByText('begun').waitFor()
  await Promise.all([visitor.page.reload(), log.reload()])
  await log.getByText('begun').waitFor()
  await visitor.button('Log out').click()
  await log.getByText(OVER).waitFor()
  await visitor.giveCredentials(account)
  gate.open()
  await log.getByRole('log').getByText('ended').waitFor()
  expect(new URL(log.url()).search).toBe('?tab=log')
  await deploymentEnd(stage.api, id)
})

test('a user sees the screens and buttons that the roles allow, and is locked out when suspended', async () => {
  const menuOf = async ({ page }: Visitor) =>
    // Without the counts beside them.
    await page.getByRole('navigation', { name: 'Screens' }).locator('.mantine-NavLink-label').allTextContents()
  const id = await stage.deploy('sleep 600')
  const admin = await stage.login('/users', 'Users')
  const { page } = admin
  expect(await menuOf(admin)).toEqual([...SCREENS, 'Documentation'])
  const account = { email: `keeper-${stage.account.email}`, password: 'long-enough-password' }
  await admin.button('New user').click()
  const form = page.getByRole('dialog')
  await form.getByLabel('E-mail').first().fill(account.email)
  await form.getByLabel('User name').fill(`keeper-${Date.now()}`)
  await form.locator('input[type=password]').fill(account.password)
  await admin.choose('Roles', 'user')
  await admin.button('Create').click()
  await form.waitFor({ state: 'detached' })

  const keeper = await stage.arrive()
  await keeper.login(account, `/deployments/${id}`)
  await keeper.page.getByRole('grid').waitFor()
  const forbidden = ['Deploy', 'Audit', 'Users', 'Roles']
  expect(await menuOf(keeper)).toEqual([...SCREENS.filter((screen) => !forbidden.includes(screen)), 'Documentation'])
  const cancel = { name: 'Cancel deployment', description: /None of your roles gives deployments:cancel/ }
  await keeper.page.getByRole('button', { ...cancel, disabled: true }).waitFor()
  expect(await keeper.page.getByRole('tab', { name: 'Audit' }).count()).toBe(0)
  for (const screen of ['Now', 'Targets', 'Sources', 'Freezes', 'Environments']) {
    await keeper.goTo(screen)
    await keeper.settled()
    const usable = keeper.page.getByRole('button', { name: /^New /, disabled: false })
    expect([screen, await usable.count()]).toEqual([screen, 0])
    await keeper.expectNoRefusal()
  }
  await keeper.open('/deploy')
  await keeper.sees('You may not create deployments')
  await keeper.open('/users')
  const refusal = keeper.page.getByRole('alert')
  await refusal.getByText('INSUFFICIENT_PERMISSIONS').first().waitFor()
  expect(await refusal.textContent()).toMatch(/You may not do this.*users:read.*request [\w.-]{8,}/)

  await admin.button(`Edit ${account.email}`).click()
  await admin.choose('Status', 'Suspended')
  await admin.button('Save').click()
  await page.getByText('suspended', { exact: true }).waitFor()
  await keeper.open('/')
  await keeper.giveCredentials(account)
  await keeper.sees(/the account is not active/)

  await admin.open(`/deployments/${id}`)
  await admin.confirm('Cancel deployment')
  await deploymentEnd(stage.api, id)
})

test('an API key has its scopes until it is revoked', async () => {
  const visitor = await stage.login('/account', 'Account')
  const { page } = visitor
  await visitor.button('New API key').click()
  await page.getByLabel('Name').fill('pipeline')
  await visitor.choose('Scopes', 'deployments:read')
  await visitor.button('Create').click()
  const key = (await page.getByTestId('shown-once').textContent()) ?? ''
  expect(key).toMatch(/^svc_/)
  await visitor.button('I have stored it').click()
  await page.getByText('pipeline', { exact: true }).waitFor()
  expect(await page.getByText(key).count()).toBe(0)

  const call = async (path: string) =>
    (await fetch(`${stage.ground.suite.url}/api/v1${path}`, { headers: { authorization: `Bearer ${key}` } })).status
  expect([await call('/deployments'), await call('/targets')]).toEqual([200, 403])
  await visitor.confirm('Revoke', 'Revoke pipeline')
  await visitor.sees('There is no API key yet')
  expect(await call('/deployments')).toBe(401)
})

test('a user of one tenant sees no record of another one', async () => {
  const plant = async ({ api, environment }: Pick<TestTenant, 'api' | 'environment'>, colour: string) => {
    const created = async (path: string, body: Record<string, unknown>) => (await api.post(path, body)).body
    const action_id = await createAction(api, {}, `harbour ${colour}`)
    const connection = { type: 'simulated' }
    const target = (await created('/targets', { name: `crane ${colour}`, connection, environment_id: environment })).id
    const request = { action_id, target_ids: [target], environment_id: environment }
    const { deployment_id } = await created('/deployments', request)
    await deploymentEnd(api, deployment_id)
    return [`/deployments/${deployment_id}`, `/targets/${target}`, `/sources/actions/${action_id}`]
  }
  await plant(stage.ground, 'red')
  const foreign = await plant(other, 'blue')
  const visitor = await stage.arrive()
  const { page } = visitor
  const blue = () => page.getByText(/blue/).count()
  await visitor.login(await stage.createAccount(['operator']), '/', 'Now')
  for (const [screen, seen] of [
    ['Deployments', 'harbour red'],
    ['Matrix', 'harbour red'],
    ['Targets', 'crane red'],
    ['Sources', 'harbour red'],
    ['Tenants', stage.ground.username],
    ['Instances', 'one'],
    ['Queue', 'Nothing waits'],
  ] as const) {
    await visitor.goTo(screen)
    await visitor.sees(seen)
    await visitor.expectNoRefusal()
    expect([screen, await blue(), await page.getByText(other.username).count()]).toEqual([screen, 0, 0])
  }
  await page.keyboard.press('Control+k')
  await page.getByLabel('Screen, deployment or target').fill('crane')
  await page.getByRole('dialog').getByText('crane red').waitFor()
  expect(await blue()).toBe(0)
  for (const address of foreign) {
    await visitor.open(address)
    await page.getByRole('alert').getByText('NOT_FOUND').first().waitFor()
    expect([address, await blue(), await page.getByRole('alert').count()]).toEqual([address, 0, 1])
  }
})
