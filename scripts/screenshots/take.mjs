// make screenshots: a real suite, real deployments, and pictures of the console for the documentation in docs/images.
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { chromium } from 'playwright-core'

const root = path.resolve(import.meta.dirname, '../..')
const folder = path.join(root, 'docs/images')
const SIZE = { width: 1280, height: 800 }
const MOST_BYTES = 150_000
const PATIENCE_MS = 120_000

const exports = execFileSync('bash', ['scripts/infra.sh', 'env'], { cwd: root, encoding: 'utf8' })
for (const [, name, url] of exports.matchAll(/^export (\w+)='(.*)'$/gm)) process.env[name] ??= url
const { loginToSuite, startSuite, waitFor } = await import('../../tests/support/dist/index.js')
const { askForApproval, makeData } = await import('./deployments.mjs')

const suite = await startSuite({ capacity: 2 })
const executablePath = execFileSync('sh', ['-c', 'command -v chromium-headless-shell || command -v chromium'], {
  encoding: 'utf8',
}).trim()
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
try {
  const api = await loginToSuite(suite)
  const cli = path.join(root, 'node_modules/.bin/slipway')
  execFileSync(cli, ['apply', '-f', path.join(import.meta.dirname, 'catalog.yaml')], {
    env: { ...process.env, SLIPWAY_URL: suite.url, SLIPWAY_TOKEN: api.token },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const { running, storefront, health } = await makeData(api)
  const hasBegun = async () => (await api.get(`/deployments/${running}`)).body.completed_steps >= 6
  await waitFor(hasBegun, { timeoutMs: 300_000 })
  const page = await takeAll({ running, storefront, health })
  const request = await askForApproval(api, { url: suite.url, storefront })
  await page.goto(`${suite.url}/queue/${request}`)
  await page.getByRole('button', { name: 'Approve', exact: true }).waitFor()
  await page.getByRole('link', { name: /Queue.*to approve/ }).waitFor()
  await take(page, 'request')
} finally {
  await browser.close()
  await suite.stop()
}

async function takeAll({ running, storefront, health }) {
  const page = await login()
  const heading = (name) => page.getByRole('heading', { level: 1, name }).waitFor()
  const open = async (address) => {
    await page.goto(suite.url + address)
    await page.getByRole('heading', { level: 1 }).waitFor()
  }

  await open(`/deployments/${running}`)
  await page.getByRole('grid').waitFor()
  await take(page, 'deployment')

  await page.emulateMedia({ colorScheme: 'dark' })
  await page.getByRole('tab', { name: 'Log' }).click()
  await page.getByTestId('log-text').getByText('unpacking').first().waitFor()
  await take(page, 'log')
  await page.emulateMedia({ colorScheme: 'light' })

  await open('/')
  await page.getByRole('region', { name: 'Failures of the last day' }).getByRole('link').nth(1).waitFor()
  await page.getByRole('region', { name: 'Running' }).getByRole('link').first().waitFor()
  await take(page, 'now')

  await open('/queue')
  await page.getByRole('cell', { name: '20', exact: true }).waitFor()
  await take(page, 'queue')

  await open('/matrix')
  await page
    .getByRole('row', { name: /storefront/ })
    .getByText('running')
    .waitFor()
  await take(page, 'matrix')

  await open(`/sources/actions/${health}?tab=compare`)
  await page.getByRole('region', { name: 'Differences' }).waitFor()
  await take(page, 'source')

  await open(`/deploy?kind=solution&id=${storefront}&version=%5E1.4.0`)
  await page.getByText('By tags').click()
  await page.getByRole('combobox', { name: 'Tag key 1' }).fill('stage')
  await page.getByRole('combobox', { name: 'Tag value 1' }).fill('production')
  await page.getByRole('button', { name: 'Add a tag' }).click()
  await page.getByRole('combobox', { name: 'Tag key 2' }).fill('app')
  await page.getByRole('combobox', { name: 'Tag value 2' }).fill('storefront')
  await page.keyboard.press('Tab')
  await page.getByText('all of these tags').click()
  await page.getByText('Selects 6 targets').waitFor()
  await page.getByRole('button', { name: 'Preview', exact: true }).click()
  await heading('Preview: storefront 1.5.0')
  await take(page, 'preview')
  return page
}

async function login() {
  const context = await browser.newContext({
    viewport: SIZE,
    timezoneId: 'UTC',
    locale: 'en-GB',
    reducedMotion: 'reduce',
  })
  context.setDefaultTimeout(PATIENCE_MS)
  const page = await context.newPage()
  await page.goto(suite.url)
  await page.getByLabel('E-mail').fill(suite.admin.email)
  await page.locator('input[type=password]').fill(suite.admin.password)
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.getByRole('navigation', { name: 'Screens' }).waitFor()
  return page
}

async function take(page, name) {
  await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' })
  const file = path.join(folder, `${name}.png`)
  fs.mkdirSync(folder, { recursive: true })
  // Rows under the pointer have another colour.
  await page.mouse.move(0, 0)
  await page.screenshot({ path: file, animations: 'disabled' })
  const { size } = fs.statSync(file)
  if (size > MOST_BYTES) throw new Error(`${file} has ${size} bytes, more than ${MOST_BYTES}`)
  console.log(`docs/images/${name}.png: ${Math.round(size / 1_000)} kB`)
}
