// Sessions in the console: password, second factor, the end of a session, and the screens of each role.
import { randomBytes } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import { deploymentEnd, steadyClock, totp } from '@slipway/testing'
import { type Login, SCREENS, type Visitor } from './browser.ts'
import { Stage } from './stage.ts'

const stage = new Stage()

describe('logging in', () => {
  test('a wrong password shows the error code, and the right one opens the requested address', async () => {
    const { admin } = stage.suite
    const visitor = await stage.arrive()
    await visitor.open('/queue')
    await visitor.giveCredentials({ ...admin, password: 'not the password' })
    await visitor.sees('INVALID_CREDENTIALS')
    await visitor.giveCredentials(admin)
    await visitor.heading('Queue')
  })

  test('a reload keeps the session', async () => {
    const visitor = await stage.arrive()
    await visitor.login(stage.suite.admin, '/', 'Now')
    await visitor.page.reload()
    await visitor.heading('Now')
  })

  test('two tabs that renew the session at the same time both stay logged in', async () => {
    const visitor = await stage.arrive()
    await visitor.login(stage.suite.admin, '/', 'Now')
    const second = await visitor.openTab('/')
    for (let i = 0; i < 3; i += 1) {
      await Promise.all([visitor.page.reload(), second.reload()])
      for (const tab of [visitor.page, second]) await tab.getByRole('heading', { level: 1, name: 'Now' }).waitFor()
    }
  })

  test('an invalid access token is renewed without a message', async () => {
    const visitor = await stage.arrive()
    await visitor.login(stage.suite.admin, '/', 'Now')
    let renewals = 0
    // The open screen polls, so it may renew the session as soon as the gateway is back.
    visitor.page.on('response', (answer) => {
      if (answer.url().endsWith('/auth/refresh') && answer.ok()) renewals += 1
    })
    await stage.suite.kill('gateway')
    const SLIPWAY_JWT_KEYS = `next:${randomBytes(32).toString('base64')}`
    await stage.suite.start('gateway', { SLIPWAY_JWT_KEYS })
    try {
      await visitor.goTo('Targets')
      await visitor.sees('There is no target yet')
      expect(renewals).toBeGreaterThan(0)
    } finally {
      await stage.suite.kill('gateway')
    }
  })

  test('the second factor is set up, needed for a login, and replaced once by a recovery code', async () => {
    const account = await stage.createAccount(['user'])
    const visitor = await stage.arrive()
    const { page } = visitor
    await visitor.login(account, '/account', 'Account')
    await visitor.button('Set up').click()
    const secret = (await page.getByTestId('totp-secret').textContent()) ?? ''
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

    const recovery = codes[0] ?? ''
    await leaveAndReturn()
    await giveCode(recovery)
    await visitor.heading('Now')
    await leaveAndReturn()
    await giveCode(recovery)
    await visitor.sees('INVALID_CREDENTIALS')
  })
})

describe('a session that ends', () => {
  const OVER = 'Your session has ended'

  test('by a logout in one tab shows the login in the other tab, and a login brings both back', async () => {
    const account = await stage.createAccount(['user'])
    const visitor = await stage.arrive()
    await visitor.login(account, '/', 'Now')
    const second = await visitor.openTab('/sources')
    await second.getByRole('heading', { level: 1, name: 'Sources' }).waitFor()
    await visitor.button('Log out').click()
    await second.getByText(OVER).waitFor()
    await visitor.giveCredentials(account)
    await visitor.heading('Now')
    await second.getByRole('heading', { level: 1, name: 'Sources' }).waitFor()
  })

  test('can be ended from another session', async () => {
    const account = await stage.createAccount(['user'])
    const first = await stage.arrive()
    await first.login(account, '/', 'Now')
    const elsewhere = await stage.arrive()
    await elsewhere.login(account, '/account', 'Account')
    await elsewhere.sees('This session')
    await elsewhere.page.getByRole('button', { name: /^End / }).first().click()
    await elsewhere.page.getByRole('dialog').getByRole('button', { name: 'End' }).click()
    await first.sees(OVER)
    await elsewhere.page.reload()
    await elsewhere.heading('Account')
  })

  test('shows the login at the same address, and the next user sees nothing of the earlier input', async () => {
    const account = await stage.createAccount(['operator'])
    const first = await stage.arrive()
    await first.login(account, '/deploy', 'Deploy')
    const requirement = first.page.getByRole('combobox', { name: 'Version requirement' })
    await requirement.fill('^7.7.7')
    const elsewhere = await stage.arrive()
    await elsewhere.login(account, '/account', 'Account')
    await elsewhere.button('Log out everywhere').click()
    await elsewhere.page.getByRole('dialog').getByRole('button', { name: 'Log out everywhere' }).click()
    await elsewhere.page.getByLabel('E-mail').waitFor()

    await first.page.keyboard.press('Control+k')
    await first.page.getByLabel('Screen, deployment or target').fill('typed in the palette')
    await first.sees(OVER)
    expect(await first.page.locator('input').count()).toBe(2)
    expect(await first.page.getByText(account.username).count()).toBe(0)
    await first.giveCredentials(stage.suite.admin)
    await first.heading('Deploy')
    expect(await requirement.inputValue()).toBe('')
    expect(await first.page.getByRole('dialog').count()).toBe(0)
  })

  test('by a new password shows the login over a live log, and the next login returns to the log', async () => {
    const id = await stage.deploy('for i in $(seq 1 3000); do echo "counted $i"; sleep 0.2; done')
    const account = await stage.createAccount(['user'])
    const watching = await stage.arrive()
    await watching.login(account, `/deployments/${id}?tab=log`)
    await watching.sees('counted 3')
    const changing = await stage.arrive()
    await changing.login(account, '/account', 'Account')
    const password = 'another-long-password'
    await changing.page.getByLabel('Current password').fill(account.password)
    await changing.page.getByLabel(/^New password( \*)?$/).fill(password)
    await changing.page.getByLabel('New password again').fill(password)
    await changing.button('Change password').click()
    await watching.sees(OVER)
    await watching.giveCredentials({ ...account, password })
    await watching.page.getByRole('log').getByText('counted').first().waitFor()
    expect(new URL(watching.page.url()).search).toBe('?tab=log')
    // The window that changed the password keeps its session.
    await changing.goTo('Deployments')
    await stage.api.post(`/deployments/${id}/cancel`)
    await deploymentEnd(stage.api, id)
  })
})

describe('roles', () => {
  const HIDDEN: Record<string, string[]> = {
    user: ['Deploy', 'Audit', 'Users', 'Roles'],
    operator: ['Audit', 'Users', 'Roles'],
    admin: [],
  }
  /** Screens, the buttons that create records there, and the roles that see them. */
  const CREATING: [screen: string, button: RegExp, roles: string[]][] = [
    ['Targets', /^New target$/, ['operator', 'admin']],
    ['Sources', /^New (solution|sequence|action)$/, ['operator', 'admin']],
    ['Freezes', /^New freeze$/, ['operator', 'admin']],
    ['Environments', /^New environment$/, ['admin']],
    ['Tenants', /^New tenant$/, ['admin']],
    ['Instances', /^New join token$/, ['admin']],
    ['Webhooks', /^New webhook$/, ['admin']],
  ]
  const menuOf = async ({ page }: Visitor) =>
    (await page.getByRole('navigation', { name: 'Screens' }).getByRole('link').allTextContents()).toSorted()

  test.each(['user', 'operator', 'admin'])(
    'the role %s sees exactly the screens and buttons that it may use',
    async (role) => {
      const visitor = await stage.arrive()
      await visitor.login(await stage.createAccount([role]), '/', 'Now')
      expect(await menuOf(visitor)).toEqual(SCREENS.filter((screen) => !HIDDEN[role]?.includes(screen)).toSorted())
      for (const [screen, button, roles] of CREATING) {
        await visitor.goTo(screen)
        await visitor.page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' })
        const shown = await visitor.page.getByRole('button', { name: button }).count()
        expect([screen, shown]).toEqual([screen, roles.includes(role) ? 1 : 0])
      }
      await visitor.expectNoRefusal()
    },
  )

  test('a forbidden address shows the refusal of the server with code and request id', async () => {
    const visitor = await stage.arrive()
    await visitor.login(await stage.createAccount(['user']), '/users', 'Users')
    const refusal = visitor.page.getByRole('alert')
    await refusal.getByText('INSUFFICIENT_PERMISSIONS').first().waitFor()
    expect(await refusal.textContent()).toMatch(/You may not do this.*users:read.*request [\w.-]{8,}/)
    await visitor.open('/audit')
    await refusal.getByText('INSUFFICIENT_PERMISSIONS').first().waitFor()
    await visitor.open('/deploy')
    await visitor.sees('You may not create deployments')
  })

  test('a running deployment shows the button to cancel to an operator and not to a user', async () => {
    const id = await stage.deploy('sleep 600')
    const [viewer, operator] = [await stage.arrive(), await stage.arrive()]
    await viewer.login(await stage.createAccount(['user']), `/deployments/${id}`)
    await viewer.page.getByRole('grid').waitFor()
    expect(await viewer.button('Cancel deployment').count()).toBe(0)
    expect(await viewer.page.getByRole('tab', { name: 'Audit' }).count()).toBe(0)
    await operator.login(await stage.createAccount(['operator']), `/deployments/${id}`)
    await operator.confirm('Cancel deployment')
    await viewer.sees(/cancelled by visitor-/)
    await deploymentEnd(stage.api, id)
  })

  test('an administrator creates a role and a user, the user logs in, and is suspended', async () => {
    const admin = await stage.arrive()
    const { page } = admin
    await admin.login(stage.suite.admin, '/roles', 'Roles')
    await admin.button('New role').click()
    await page.getByRole('dialog').getByLabel('Name').fill('watchkeeper')
    await page.getByRole('checkbox', { name: 'deployments:read' }).check()
    await page.getByRole('checkbox', { name: 'deployments:cancel' }).check()
    await admin.button('Create').click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })

    const account = { email: 'keeper@example.com', password: 'long-enough-password' }
    await admin.goTo('Users')
    await admin.button('New user').click()
    const form = page.getByRole('dialog')
    await form.getByLabel('E-mail').first().fill(account.email)
    await form.getByLabel('User name').fill('keeper')
    await form.locator('input[type=password]').fill(account.password)
    await admin.choose('Roles', 'watchkeeper')
    await admin.button('Create').click()
    await page.getByRole('cell', { name: 'watchkeeper' }).waitFor()

    const keeper = await stage.arrive()
    await keeper.login(account, '/', 'Now')
    expect(await menuOf(keeper)).toEqual(['Account', 'Deployments', 'Matrix', 'Now', 'Queue'])
    await keeper.page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' })
    await keeper.expectNoRefusal()

    await admin.button(`Change ${account.email}`).click()
    await admin.choose('Status', 'Suspended')
    await admin.button('Save').click()
    await page.getByText('suspended', { exact: true }).waitFor()
    await keeper.sees(/This account is not active/)
    await keeper.page.reload()
    await keeper.giveCredentials(account)
    await keeper.sees(/the account is not active/)
  })

  test('an API key has its scopes until it is revoked', async () => {
    const visitor = await stage.arrive()
    const { page } = visitor
    await visitor.login(await stage.createAccount(['operator']), '/account', 'Account')
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
      (await fetch(`${stage.suite.url}/api/v1${path}`, { headers: { authorization: `Bearer ${key}` } })).status
    expect([await call('/deployments'), await call('/targets')]).toEqual([200, 403])
    await visitor.confirm('Revoke', 'Revoke pipeline')
    await visitor.sees('There is no API key yet')
    expect(await call('/deployments')).toBe(401)
  })
})

test('a user of one tenant sees no record of another one', async () => {
  const plant = async (colour: string) => {
    const tenant_id = (await stage.create('/tenants', { name: `${colour} line` })).id
    const environment_id = (await stage.create('/environments', { name: `${colour} production`, tenant_id })).id
    const definition = { type: 'script', script: 'true' }
    const source = { name: `harbour ${colour}`, version: '1.0.0', definition, tenant_id }
    const action_id = (await stage.create('/actions', source)).id
    const connection = { type: 'simulated' }
    const place = { name: `harbour crane ${colour}`, connection, tenant_id, environment_id }
    const target = (await stage.create('/targets', place)).id
    const request = { action_id, target_ids: [target], tenant_id, environment_id }
    const deployment = (await stage.create('/deployments', request)).deployment_id
    await deploymentEnd(stage.api, deployment)
    return { tenant_id, action_id, target, deployment }
  }
  const [own, other] = [await plant('red'), await plant('blue')]
  const account: Login = await stage.createAccount(['operator'], { tenant_id: own.tenant_id })
  const visitor = await stage.arrive()
  const { page } = visitor
  const blue = () => page.getByText(/blue/).count()

  await visitor.login(account, '/deployments', 'Deployments')
  await visitor.sees('harbour red')
  expect(await blue()).toBe(0)
  for (const [screen, seen] of [
    ['Targets', 'harbour crane red'],
    ['Environments', 'red production'],
    ['Tenants', 'red line'],
    ['Instances', 'one'],
    ['Webhooks', 'There is no webhook yet'],
    ['Freezes', 'There is no freeze yet'],
    ['Queue', 'Nothing waits'],
  ] as const) {
    await visitor.goTo(screen)
    await visitor.sees(seen)
    await visitor.expectNoRefusal()
    expect([screen, await blue()]).toEqual([screen, 0])
  }
  await visitor.open('/sources?kind=action')
  await visitor.sees('harbour red')
  expect(await blue()).toBe(0)

  await page.keyboard.press('Control+k')
  await page.getByLabel('Screen, deployment or target').fill('harbour')
  const dialog = page.getByRole('dialog')
  await dialog.getByText('harbour red').first().waitFor()
  await dialog.getByText('harbour crane red').waitFor()
  expect(await blue()).toBe(0)

  for (const address of [
    `/deployments/${other.deployment}`,
    `/targets/${other.target}`,
    `/sources/actions/${other.action_id}`,
  ]) {
    await visitor.open(address)
    await page.getByRole('alert').getByText('NOT_FOUND').first().waitFor()
    expect([address, await blue(), await page.getByRole('alert').count()]).toEqual([address, 0, 1])
  }
})
