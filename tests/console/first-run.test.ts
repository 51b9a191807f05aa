// A new user in an empty installation, without documentation: from the login to the output of the first deployment.
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import { createAction, createLocalTarget, loginToSuite, type Suite, startSuite } from '@slipway/testing'
import type { Browser } from 'playwright-core'
import { launch, Visitor } from './browser.ts'

let suite: Suite
let browser: Browser
let visitor: Visitor

beforeAll(async () => {
  ;[suite, browser] = await Promise.all([startSuite(), launch()])
})
afterEach(() => visitor?.leave())
afterAll(async () => {
  await browser?.close()
  await suite?.stop()
})

test('an empty installation guides the user to a first deployment', async () => {
  visitor = await Visitor.arrive(browser, suite)
  const { page } = visitor
  const dialog = page.getByRole('dialog')
  const steps = page.getByRole('region', { name: 'Your first deployment' })
  await visitor.login(suite.admin, '/', 'Now')

  await steps.getByRole('link', { name: '1. Create a target' }).click()
  await dialog.getByLabel('Name').fill('this-server')
  await visitor.expectAccessible()
  await dialog.getByRole('button', { name: 'Create' }).click()
  await visitor.heading('this-server')

  await steps.getByRole('link', { name: '2. Create an action' }).click()
  // The version is wrong, so the error of the API appears beside the field.
  await dialog.getByLabel('Name').fill('Say hello')
  await dialog.getByLabel('Version').fill('one')
  await dialog.getByRole('button', { name: 'Create' }).click()
  await dialog.getByRole('alert').getByText('VALIDATION_ERROR').waitFor()
  expect(await dialog.getByLabel('Version').getAttribute('aria-invalid')).toBe('true')
  await visitor.expectAccessible()
  await dialog.getByLabel('Version').fill('1.0.0')
  await dialog.getByRole('button', { name: 'Create' }).click()
  await visitor.heading('Say hello')

  await steps.getByRole('link', { name: '3. Deploy it' }).click()
  await visitor.sees('Selects 1 target')
  await visitor.sees('Resolves to 1.0.0')
  await page.getByLabel('greeting').fill('Good morning')
  await page.getByRole('button', { name: 'Preview', exact: true }).click()
  await visitor.heading('Preview: Say hello 1.0.0')
  await visitor.sees('No request in the queue comes before it.')
  await page.getByRole('button', { name: 'Start' }).click()

  await page.waitForURL((url) => url.pathname.startsWith('/deployments/'))
  await page.getByRole('tab', { name: 'Log' }).click()
  await visitor.sees('Good morning from this-server')
  await page.getByText('success', { exact: true }).first().waitFor()
  await page.getByRole('navigation', { name: 'Screens' }).getByText('Now').click()
  await page.getByRole('region', { name: 'Ended last' }).getByRole('link', { name: 'Say hello 1.0.0' }).waitFor()
  expect(await steps.count()).toBe(0)
})

test('the forms of sequences and solutions offer the existing sources by name', async () => {
  visitor = await Visitor.arrive(browser, suite)
  const { page } = visitor
  const api = await loginToSuite(suite)
  await createAction(api, {}, 'Greet')
  await createLocalTarget(api, { name: 'web-01' })
  const dialog = page.getByRole('dialog')
  await visitor.login(suite.admin, '/sources?kind=solution&new=yes', 'Sources')
  // Without a sequence, the dialog leads to the form of sequences.
  await dialog.getByRole('button', { name: 'Create a sequence first' }).click()
  await dialog.getByLabel('Name').fill('Greet twice')
  await dialog.getByRole('button', { name: 'Add an action' }).click()
  await dialog.getByRole('combobox', { name: '2. action' }).click()
  await page.getByRole('option', { name: 'Greet' }).click()
  await visitor.expectAccessible()
  await dialog.getByRole('button', { name: 'Create', exact: true }).click()
  await visitor.heading('Greet twice')
  await page.getByRole('table', { name: 'Its actions in order' }).getByRole('link').nth(1).waitFor()

  // The page of the action shows the sequences that use the action.
  await page.getByRole('table', { name: 'Its actions in order' }).getByRole('link').first().click()
  await page.getByRole('tab', { name: 'Used by' }).click()
  await page
    .getByRole('table', { name: 'The sequences that use it' })
    .getByRole('link', { name: 'Greet twice' })
    .waitFor()

  await visitor.open('/sources?kind=solution&new=yes')
  await dialog.getByLabel('Name').fill('Greeting')
  await dialog.getByRole('button', { name: 'Create', exact: true }).click()
  await visitor.heading('Greeting')
  await page.getByRole('main').getByRole('link', { name: 'Deploy', exact: true }).click()
  await page.getByRole('combobox', { name: 'Targets' }).click()
  await page.getByRole('option', { name: 'web-01' }).click()
  await visitor.sees('Selects 1 target')
  await page.getByRole('button', { name: 'Preview', exact: true }).click()
  await visitor.heading('Preview: Greeting 1.0.0')
  await page.getByText('Greet twice › Greet').nth(1).waitFor()
})
