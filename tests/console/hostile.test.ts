// Markup, links and escape sequences in every field that a user, a script, an instance or a receiver of webhooks can fill.
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { SLIPWAY_VERSION } from '@slipway/runtime'
import { deploymentEnd, type Receiver, startReceiver } from '@slipway/testing'
import { SCREENS, type Visitor } from './browser.ts'
import { Stage } from './stage.ts'

const stage = new Stage({ capacity: 1, env: { SLIPWAY_WEBHOOK_ALLOW_PRIVATE: 'true' } })

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
let ids: Record<'webhook' | 'target' | 'host' | 'action' | 'sequence' | 'solution' | 'failed' | 'running', string>

beforeAll(async () => {
  receiver = await startReceiver()
  receiver.answer = () => ({ status: 500, body: plant('answer') })
  ids = await plantEverywhere()
})
afterAll(() => receiver?.close())

async function plantEverywhere() {
  const { api } = stage
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
  const local = { ...described('target'), ...place, connection: { type: 'local' } }
  const target = (await stage.create('/targets', local)).id
  const ssh = { type: 'ssh', host: HOST, username: plant('login'), password: 'not told', host_key: plant('key') }
  const host = (await stage.create('/targets', { name: plant('host'), connection: ssh })).id
  const in2Days = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()
  await stage.create('/deployment-freezes', { ...described('freeze'), start_time: in2Days(2), end_time: in2Days(3) })
  await stage.create('/admin/roles', { ...described('role'), permissions: ['deployments:read'] })
  await stage.createAccount([plant('role')], { username: plant('user'), display_name: plant('person') })
  await stage.create('/auth/api-keys', { ...described('key'), scopes: [] })
  await joinInstance()

  const request = {
    solution_id: solution,
    target_ids: [target],
    environment_id,
    variables: { greeting: plant('given') },
  }
  const failed = (await stage.create('/deployments', request)).deployment_id
  await deploymentEnd(api, failed)
  const sleep = { type: 'script', script: 'sleep 600' }
  const action_id = (await stage.create('/actions', { name: plant('sleeper'), version: '1.0.0', definition: sleep })).id
  const running = (await stage.create('/deployments', { action_id, target_ids: [target] })).deployment_id
  await api.post('/deployments', { action_id, target_ids: [target], environment_id })
  return { webhook, target, host, action, sequence, solution, failed, running }
}

async function joinInstance(): Promise<void> {
  const { token } = await stage.create('/instances/grants', {
    uses: 1,
    expires_in_seconds: 900,
    labels: { zone: null },
  })
  const response = await fetch(`${stage.suite.bridgeUrl}/v1/instances`, {
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

const settled = async ({ page }: Visitor) => page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' })

test('every screen shows planted markup as text', async () => {
  const visitor = await stage.arrive()
  await visitor.login(stage.suite.admin, '/', 'Now')
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
    await settled(visitor)
    const text = shown[screen]
    if (text !== undefined) await visitor.sees(text)
    await expectOnlyText(visitor, screen)
    await visitor.expectToFit()
  }
})

test('every tab, dialog and form of a record shows planted markup as text', async () => {
  await stage.api.post(`/deployments/${ids.running}/cancel`, { reason: plant('reason') })
  const visitor = await stage.arrive()
  const { page } = visitor
  await visitor.login(stage.suite.admin, `/deployments/${ids.running}`)
  await visitor.sees(plant('reason'))
  await expectOnlyText(visitor, 'a cancelled deployment')

  await visitor.open(`/deployments/${ids.failed}`)
  await visitor.heading(`${plant('solution')} 1.0.0`)
  await page.locator('[data-state=failed]').click()
  await page.getByRole('dialog').getByText('Exit code', { exact: true }).waitFor()
  await expectOnlyText(visitor, 'a step')
  await page.keyboard.press('Escape')
  for (const [tab, text] of [
    ['Changes', plant('target')],
    ['Failures', `${MARKUP}: permission denied`],
    ['Configuration', plant('given')],
    ['Audit', 'deployment.create'],
  ] as const) {
    await page.getByRole('tab', { name: tab }).click()
    await visitor.sees(text)
    await expectOnlyText(visitor, tab)
    await visitor.expectToFit()
  }
  await visitor.button('Redeploy').click()
  await page.getByRole('dialog').getByText(plant('solution')).waitFor()
  await expectOnlyText(visitor, 'redeploy')

  const records: [address: string, text: string][] = [
    ['/releases', plant('target')],
    [`/sources/solutions/${ids.solution}?tab=where`, plant('target')],
    [`/targets/${ids.target}`, plant('key')],
    [`/targets/${ids.host}`, HOST],
    [`/sources/solutions/${ids.solution}`, plant('sequence')],
    [`/sources/sequences/${ids.sequence}`, plant('action')],
    [`/sources/actions/${ids.action}`, plant('sign')],
    [`/deploy?kind=action&id=${ids.action}&targets=${ids.target}`, plant('declared')],
    [`/webhooks?webhook=${ids.webhook}`, 'target.created'],
  ]
  for (const [address, text] of records) {
    await visitor.open(address)
    await visitor.sees(text)
    await settled(visitor)
    await expectOnlyText(visitor, address)
    await visitor.expectToFit()
  }
  await visitor.button('Details of target.created').first().click()
  await visitor.sees(plant('answer'))
  await expectOnlyText(visitor, 'a delivery')

  for (const [screen, form] of [
    ['Freezes', /^Change /],
    ['Environments', /^Change /],
    ['Tenants', /^Change /],
    ['Users', /^Change visitor/],
    ['Roles', /^Change /],
    ['Webhooks', /^Change /],
    ['Audit', /^Details of/],
  ] as const) {
    await visitor.goTo(screen)
    await page.getByRole('button', { name: form }).first().click()
    await settled(visitor)
    await expectOnlyText(visitor, `a form of ${screen}`)
    if (screen !== 'Audit') await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click()
  }

  await page.keyboard.press('Control+k')
  await page.getByLabel('Screen, deployment or target').fill('data-planted')
  await page.getByRole('dialog').getByText(plant('host')).waitFor()
  await expectOnlyText(visitor, 'the palette')
})

test('the preview of a deployment shows planted markup as text', async () => {
  const visitor = await stage.arrive()
  await visitor.login(stage.suite.admin, `/deploy?kind=solution&id=${ids.solution}&targets=${ids.target}`, 'Deploy')
  await visitor.button('Preview').click()
  await visitor.heading(`Preview: ${plant('solution')} 1.0.0`)
  await visitor.sees(plant('default'))
  await expectOnlyText(visitor, 'a preview')
  await visitor.expectToFit()
})

test('every screen shows planted markup of its address as text', async () => {
  const visitor = await stage.arrive()
  const evil = encodeURIComponent(plant('address'))
  await visitor.login(stage.suite.admin, `/deployments?search=${evil}&state=${evil}&page=${evil}`, 'Deployments')
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
    `/${evil}`,
  ]) {
    await visitor.open(address)
    await visitor.page.getByRole('heading', { level: 1 }).waitFor()
    await settled(visitor)
    await expectOnlyText(visitor, address)
    await visitor.expectToFit()
  }
})

test('output with markup, links, titles, cursor movements and 64 KiB without a break stays in its lines', async () => {
  const visitor = await stage.arrive()
  const { page } = visitor
  await visitor.login(stage.suite.admin, `/deployments/${ids.failed}?tab=log`)
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
  await expectOnlyText(visitor, 'the log')
  await visitor.expectToFit()
  const heights = await page.locator('.log-line').evaluateAll((rows) => rows.map((row) => row.clientHeight))
  expect(new Set(heights).size).toBe(1)
})
