// Every screen, tab and dialog of the console, with markup, links and escape sequences in every field that a user, a script,
// an instance or a receiver of webhooks can fill: they stay text, fit into the window, and are accessible in both themes.
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import { SLIPWAY_VERSION } from '@slipway/runtime'
import { createGate, deploymentEnd, type Receiver, SLOW, startReceiver } from '@slipway/testing'
import { PHONE, SCREENS, type Visitor } from '../console/browser.ts'
import { openOwnSuite, Stage } from '../console/stage.ts'

// Some 50 pages are analysed, about one a second.
jest.setTimeout(180_000 * SLOW)

const stage = new Stage(() => openOwnSuite({ capacity: 1, env: { SLIPWAY_WEBHOOK_ALLOW_PRIVATE: 'true' } }))

const MARKUP = `<img src=x data-planted onerror=window.broken=1>`
const plant = (where: string) =>
  `${where} ${MARKUP}'"></title></script><b data-planted><script>window.broken=1</script>`
const HOST = '<img/src=x/data-planted/onerror=window.broken=1>'
const LINE = 64 * 1024

/** A script whose output attacks the log with markup, links, a title, cursor movements and a long line. */
const SCRIPT = [
  `echo '${MARKUP}'`,
  String.raw`printf '\033]8;;javascript:window.broken=1\007a linked word\033]8;;\007\n'`,
  String.raw`printf '\033]0;a title of the output\007\033[2J\033[H\033[31mred again\033[0m\n'`,
  `head -c ${LINE} /dev/zero | tr '\\0' x; echo`,
  `echo 'behind the long line'`,
  `echo '${MARKUP}: permission denied' >&2`,
  'exit 1',
].join('\n')

let receiver: Receiver
let ids: Record<
  'webhook' | 'target' | 'host' | 'account' | 'action' | 'sequence' | 'solution' | 'failed' | 'running',
  string
>

beforeAll(async () => {
  receiver = await startReceiver()
  receiver.answer = () => ({ status: 500, body: plant('answer') })
  ids = await plantEverywhere()
})
afterAll(() => receiver?.close())

async function plantEverywhere() {
  const described = (kind: string) => ({ name: plant(kind), description: plant(`about ${kind}`) })
  const variables = { greeting: plant('value') }
  const url = `${receiver.url}?${MARKUP.replaceAll(' ', '/')}`
  const webhook = (await stage.create('/webhooks', { url, events: ['target.created'] })).id
  await stage.create('/tenants', { ...described('tenant'), variables })
  const environment_id = (await stage.create('/environments', { ...described('environment'), variables })).id
  const declared = [{ name: 'greeting', description: plant('declared'), default: plant('default'), prompted: true }]
  const definition = { type: 'script', script: SCRIPT, env: { SIGN: plant('sign') }, variables: declared }
  const action = (await stage.create('/actions', { ...described('action'), version: '1.0.0', definition })).id
  const steps = { version: '1.0.0', definition: { actions: [{ action_id: action }] } }
  const sequence = (await stage.create('/sequences', { ...described('sequence'), ...steps })).id
  const parts = { version: '1.0.0', definition: { sequences: [{ sequence_id: sequence }] } }
  const solution = (await stage.create('/solutions', { ...described('solution'), ...parts })).id
  const place = { environment_id, tags: [{ key: plant('key'), value: plant('tag') }], variables }
  const target = await stage.ground.createLocalTarget({ ...described('target'), ...place })
  // The comment behind a host key is free text.
  const host_key = `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEN5TCMehjSCR6YwByAm+OLePFiNpiIdUtrLbEWv+/zM ${plant('key')}`
  const ssh = { type: 'ssh', host: HOST, username: plant('login'), password: 'not told', host_key }
  const host = (await stage.create('/targets', { name: plant('host'), connection: ssh })).id
  const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()
  await stage.create('/deployment-freezes', { ...described('freeze'), start_time: inDays(2), end_time: inDays(3) })
  await stage.create('/admin/roles', { ...described('role'), permissions: ['deployments:read'] })
  await stage.createAccount([plant('role')], { username: plant('user'), display_name: plant('person') })
  const pipeline = { kind: 'service', username: plant('pipeline'), roles: [] }
  const scoped = [{ role: plant('role'), environment_ids: [environment_id], solution_ids: [solution] }]
  const account = (await stage.create('/admin/users', { ...pipeline, role_bindings: scoped })).id
  const trust = { name: plant('trust'), issuer: 'https://ci.example.com', audience: plant('audience') }
  await stage.create(`/admin/users/${account}/trusts`, { ...trust, claims: { [plant('claim')]: plant('pattern') } })
  await stage.create('/auth/api-keys', { ...described('key'), scopes: [] })
  await joinInstance()

  const request = {
    solution_id: solution,
    target_ids: [target],
    environment_id,
    variables: { greeting: plant('given') },
  }
  const failed = await stage.start(request)
  await deploymentEnd(stage.api, failed)
  const held = { type: 'script', script: createGate(stage).script }
  const action_id = (await stage.create('/actions', { name: plant('sleeper'), version: '1.0.0', definition: held })).id
  const running = await stage.start({ action_id, target_ids: [target] })
  await stage.start({ action_id, target_ids: [target], environment_id })
  return { webhook, target, host, account, action, sequence, solution, failed, running }
}

async function joinInstance(): Promise<void> {
  const grant = { uses: 1, expires_in_seconds: 900, labels: { zone: null } }
  const { token } = await stage.create('/instances/grants', grant)
  const response = await fetch(`${stage.ground.suite.bridgeUrl}/v1/instances`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      name: plant('instance'),
      version: SLIPWAY_VERSION,
      capacity: 1,
      labels: { zone: plant('zone') },
    }),
  })
  expect(response.ok).toBe(true)
  // The instance does not exist, so it must get no runs.
  const { body } = await stage.api.get('/admin/instances?search=planted')
  await stage.api.call('PATCH', `/admin/instances/${body.data[0].id}`, { draining: true })
}

/** Expects that no planted text became an element, no script has run, and no link leads to a script. */
async function expectOnlyText({ page }: Visitor, where: string): Promise<void> {
  const found = await page.evaluate(
    `({
      elements: document.querySelectorAll('[data-planted], main img').length,
      links: document.querySelectorAll('a[href^="javascript:" i]').length,
      broken: window.broken,
    })`,
  )
  expect([where, found]).toEqual([where, { elements: 0, links: 0, broken: undefined }])
}

async function expectSound(visitor: Visitor, where: string): Promise<void> {
  await visitor.settled()
  await expectOnlyText(visitor, where)
  await visitor.expectToFit()
  await visitor.expectAccessibleInBothThemes()
}

test('every screen is sound', async () => {
  const visitor = await stage.arrive()
  await visitor.open('/')
  await visitor.page.getByLabel('E-mail').waitFor()
  await expectSound(visitor, 'the login')
  await visitor.login(stage.account, '/', 'Now')
  /** The planted text that each screen shows. */
  const shown: Record<string, string> = {
    Now: plant('sleeper'),
    Deployments: plant('solution'),
    Queue: plant('environment'),
    Targets: plant('target'),
    Matrix: plant('environment'),
    Sources: plant('about solution'),
    Freezes: plant('about freeze'),
    Environments: plant('about environment'),
    Tenants: plant('about tenant'),
    Instances: plant('instance'),
    Webhooks: receiver.url,
    Users: plant('person'),
    Roles: plant('about role'),
    Account: plant('about key'),
  }
  for (const screen of SCREENS) {
    await visitor.goTo(screen)
    const text = shown[screen]
    if (text !== undefined) await visitor.sees(text)
    await expectSound(visitor, screen)
  }
})

test('every tab, dialog and form of a record is sound', async () => {
  await stage.api.post(`/deployments/${ids.running}/cancel`, { reason: plant('reason') })
  const visitor = await stage.arrive()
  const { page } = visitor
  await visitor.login(stage.account, `/deployments/${ids.running}`)
  await visitor.sees(plant('reason'))
  await expectOnlyText(visitor, 'a cancelled deployment')

  await visitor.open(`/deployments/${ids.failed}?tab=steps`)
  await visitor.heading(`${plant('solution')} 1.0.0`)
  await expectSound(visitor, 'the steps')
  await page.locator('[data-state=failed]').click()
  await page.getByRole('dialog').getByText('Exit code', { exact: true }).waitFor()
  await expectOnlyText(visitor, 'a step')
  await page.keyboard.press('Escape')
  for (const [tab, text] of [
    ['Log', 'behind the long line'],
    ['Changes', plant('target')],
    ['Failures', `${MARKUP}: permission denied`],
    ['Configuration', plant('given')],
    ['Audit', 'deployment.create'],
  ] as const) {
    await page.getByRole('tab', { name: tab }).click()
    await visitor.sees(text)
    await expectSound(visitor, tab)
  }
  await visitor.button('Redeploy').click()
  await page.getByRole('dialog').getByText(plant('solution')).waitFor()
  await expectOnlyText(visitor, 'redeploy')
  await visitor.expectAccessible()

  for (const [address, text] of [
    ['/releases', plant('target')],
    [`/sources/solutions/${ids.solution}?tab=where`, plant('target')],
    [`/targets/${ids.target}`, plant('key')],
    [`/targets/${ids.host}`, HOST],
    [`/sources/solutions/${ids.solution}`, plant('sequence')],
    [`/sources/sequences/${ids.sequence}`, plant('action')],
    [`/sources/actions/${ids.action}`, plant('sign')],
    [`/deploy?kind=action&id=${ids.action}&targets=${ids.target}`, plant('declared')],
    [`/users/${ids.account}`, plant('pattern')],
    ['/login?error=no_rights&provider=x', 'Go on with the present session'],
    [`/webhooks?webhook=${ids.webhook}`, 'target.created'],
  ] as const) {
    await visitor.open(address)
    await visitor.sees(text)
    await expectSound(visitor, address)
  }
  await visitor.button('Details of target.created').first().click()
  await visitor.sees(plant('answer'))
  await expectOnlyText(visitor, 'a delivery')

  for (const [screen, form] of [
    ['Targets', 'New target'],
    ['Sources', /^New solution/],
    ['Freezes', /^Edit /],
    ['Environments', /^Edit /],
    ['Tenants', /^Edit /],
    ['Users', /^Edit visitor/],
    ['Users', 'New service account'],
    ['Roles', /^Edit /],
    ['Webhooks', /^Edit /],
    ['Audit', /^Details of/],
  ] as const) {
    await visitor.goTo(screen)
    await page.getByRole('button', { name: form }).first().click()
    await visitor.settled()
    await expectOnlyText(visitor, `a form of ${screen}`)
    await visitor.expectAccessible()
    if (screen !== 'Audit') await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click()
  }

  await page.keyboard.press('?')
  await page.getByRole('dialog').getByText('previous row').waitFor()
  await visitor.expectAccessible()
  await page.keyboard.press('Escape')
  await page.keyboard.press('Control+k')
  await page.getByLabel('Screen, deployment or target').fill('data-planted')
  await page.getByRole('dialog').getByText(plant('host')).waitFor()
  await expectOnlyText(visitor, 'the palette')
  await visitor.expectAccessible()
})

test('the preview of a deployment is sound', async () => {
  const visitor = await stage.arrive()
  await visitor.login(stage.account, `/deploy?kind=solution&id=${ids.solution}&targets=${ids.target}`, 'Deploy')
  await visitor.button('Preview').click()
  await visitor.heading(`Preview: ${plant('solution')} 1.0.0`)
  await visitor.sees(plant('default'))
  await expectSound(visitor, 'a preview')
})

test('every screen shows markup of its address as text', async () => {
  const visitor = await stage.arrive()
  const evil = encodeURIComponent(plant('address'))
  await visitor.login(stage.account, `/deployments?search=${evil}&state=${evil}&page=${evil}`, 'Deployments')
  for (const address of [
    `/deployments/${evil}?tab=${evil}&line=${evil}`,
    `/targets?tag=${evil}&status=${evil}&environment=${evil}`,
    `/matrix?search=${evil}&source_type=${evil}&tenant_id=${evil}`,
    `/releases?action_id=${evil}&version=${evil}&target_id=${evil}&tag=${evil}&state=${evil}`,
    `/deployments?sequence_id=${evil}&triggered_by=${evil}&created_from=${evil}`,
    `/targets/${evil}`,
    `/sources/${evil}/x`,
    `/sources/actions/${ids.action}?version=${evil}&before=${evil}&after=${evil}`,
    `/deploy?kind=action&id=${evil}&targets=${evil}&version=${evil}`,
    `/audit?action=${evil}&actor_id=${evil}&from=${evil}`,
    `/webhooks?webhook=${evil}&status=${evil}`,
    `/users/${evil}`,
    `/login?error=${evil}&provider=${evil}`,
    `/${evil}`,
  ]) {
    await visitor.open(address)
    await visitor.page.getByRole('heading', { level: 1 }).waitFor()
    await visitor.settled()
    await expectOnlyText(visitor, address)
    await visitor.expectToFit()
  }
})

test('output with markup, links, titles, cursor movements and 64 KiB without a break stays in its lines', async () => {
  const visitor = await stage.arrive()
  const { page } = visitor
  await visitor.login(stage.account, `/deployments/${ids.failed}?tab=log`)
  await page.getByText('behind the long line').waitFor()
  const lines = await page.getByTestId('log-text').allTextContents()
  expect(lines).toContain(MARKUP)
  expect(lines).toContain(`${MARKUP}: permission denied`)
  expect(lines).toContain('a linked word')
  expect(lines).toContain('red again')
  expect(lines.filter((line) => /^x+$/.test(line)).join('')).toHaveLength(LINE)
  expect(lines.join('')).not.toMatch(/\p{Cc}/u)
  expect(await page.title()).toContain(plant('solution').slice(0, 20))
  await page.locator('.ansi-red', { hasText: 'red again' }).waitFor()
  const heights = await page.locator('.log-line').evaluateAll((rows) => rows.map((row) => row.clientHeight))
  expect(new Set(heights).size).toBe(1)
})

test('a phone can be used from the login to the log of a deployment', async () => {
  const visitor = await stage.arrive(PHONE)
  const { page } = visitor
  await visitor.open('/')
  await visitor.giveCredentials(stage.account)
  await visitor.heading('Now')
  await visitor.button('Menu').click()
  await visitor.goTo('Deployments')
  await page.locator(`a[href="/deployments/${ids.failed}"]`).click()
  await page.getByRole('tab', { name: 'Log' }).click()
  await page.getByText('behind the long line').waitFor()
  await visitor.expectToFit()
  await visitor.expectAccessible()
})
