// From an empty tenant to a deployment and its log, in a browser.
import fs from 'node:fs'
import { expect, test } from '@jest/globals'
import { connectTo, createAction, createGate, deploymentEnd, openTenant } from '@slipway/testing'
import type { Visitor } from '../console/browser.ts'
import { Stage } from '../console/stage.ts'

const stage = new Stage(openTenant)

/** Waits for the screen of a deployment, and returns its id. */
async function deploymentOf({ page }: Visitor, other = ''): Promise<string> {
  const idOf = (url: URL) => /^\/deployments\/([0-9a-f-]{36})$/.exec(url.pathname)?.[1]
  await page.waitForURL((url) => ![undefined, other].includes(idOf(url)))
  return idOf(new URL(page.url())) ?? ''
}

test('an empty tenant leads to a first deployment, and the forms of larger sources offer the existing parts by name', async () => {
  const visitor = await stage.login('/', 'Now')
  const { page } = visitor
  const dialog = page.getByRole('dialog')
  const steps = page.getByRole('region', { name: 'Your first deployment' })

  await steps.getByRole('link', { name: '1. Create a target' }).click()
  await dialog.getByLabel('Name').fill('this-server')
  await visitor.choose('Connection', /^Simulated/)
  await dialog.getByRole('button', { name: 'Create' }).click()
  await visitor.heading('this-server')

  await steps.getByRole('link', { name: '2. Create an action' }).click()
  // The version is wrong, so the error of the API appears at the field, and nowhere else.
  await dialog.getByLabel('Name').fill('Say hello')
  await dialog.getByLabel('Version').fill('one')
  await dialog.getByRole('button', { name: 'Create' }).click()
  await dialog.locator('[aria-invalid=true]').waitFor()
  expect(await dialog.getByLabel('Version').getAttribute('aria-invalid')).toBe('true')
  expect(await dialog.getByRole('alert').count()).toBe(0)
  await dialog.getByLabel('Version').fill('1.0.0')
  await dialog.getByRole('button', { name: 'Create' }).click()
  await visitor.heading('Say hello')

  await steps.getByRole('link', { name: '3. Deploy it' }).click()
  await visitor.sees('Selects 1 target')
  await visitor.sees('Resolves to 1.0.0')
  await page.getByLabel('greeting').fill('Good morning')
  await visitor.button('Preview').click()
  await visitor.heading('Preview: Say hello 1.0.0')
  await visitor.sees('No request in the queue comes before it.')
  await visitor.button('Start').click()
  await deploymentOf(visitor)
  await page.getByText('success', { exact: true }).first().waitFor()
  await visitor.goTo('Now')
  await page.getByRole('region', { name: 'Ended last' }).getByRole('link', { name: 'Say hello 1.0.0' }).waitFor()
  expect(await steps.count()).toBe(0)

  // Without a sequence, the form of solutions leads to the form of sequences.
  await visitor.open('/sources?kind=solution&new=yes')
  await dialog.getByRole('button', { name: 'Create a sequence first' }).click()
  await dialog.getByLabel('Name').fill('Greet twice')
  await dialog.getByRole('button', { name: 'Add an action' }).click()
  await dialog.getByRole('combobox', { name: '2. action' }).click()
  await page.getByRole('option', { name: 'Say hello' }).click()
  await dialog.getByRole('button', { name: 'Create', exact: true }).click()
  await visitor.heading('Greet twice')
  const parts = page.getByRole('table', { name: 'Its actions in order' }).getByRole('link')
  await parts.nth(1).waitFor()
  await parts.first().click()
  await page.getByRole('tab', { name: 'Used by' }).click()
  const users = page.getByRole('table', { name: 'The sequences that use it' })
  await users.getByRole('link', { name: 'Greet twice' }).waitFor()

  await visitor.open('/sources?kind=solution&new=yes')
  await dialog.getByLabel('Name').fill('Greeting')
  await dialog.getByRole('button', { name: 'Create', exact: true }).click()
  await visitor.heading('Greeting')
  await page.getByRole('main').getByRole('link', { name: 'Deploy', exact: true }).click()
  await page.getByRole('combobox', { name: 'Targets' }).click()
  await page.getByRole('option', { name: 'this-server' }).click()
  await visitor.sees('Selects 1 target')
  await visitor.button('Preview').click()
  await visitor.heading('Preview: Greeting 1.0.0')
  await page.getByText('Greet twice › Say hello').nth(1).waitFor()
})

test('a form filled from the last deployment previews the changed request, and does not start a plan that has changed since', async () => {
  const variables = [
    { name: 'colour', required: true },
    { name: 'copies', type: 'number', default: 1 },
    { name: 'token', sensitive: true, default: 'unused' },
  ]
  const script = 'echo "$SLIPWAY_VAR_COPIES copies in $SLIPWAY_VAR_COLOUR"'
  const action_id = await createAction(stage.api, { script, variables }, 'Print the posters')
  const tag = { key: 'printer', value: 'large' }
  await stage.ground.createLocalTarget({ name: 'printer-1', tags: [tag] })
  const last = await stage.start({
    action_id,
    target_tags: [tag],
    variables: { colour: 'red', copies: 3, token: 'a secret' },
    target_mode: { rolling: { batch_size: 4 } },
    failure_strategy: 'continue_on_failure',
  })
  await deploymentEnd(stage.api, last)

  const visitor = await stage.login(`/deploy?kind=action&id=${action_id}`, 'Deploy')
  const { page } = visitor
  await page.getByRole('link', { name: 'Fill in everything as in its last deployment' }).click()
  await visitor.sees('Selects 1 target')
  expect(await page.getByLabel('copies').inputValue()).toBe('3')
  // The API does not show secrets.
  expect(await page.locator('input[type=password]').inputValue()).toBe('')
  await visitor.button('Leave token out').click()
  await page.getByLabel('colour').fill('blue')
  await visitor.button('Preview').click()
  await visitor.sees('4 targets at a time; a failure does not stop the other targets; nothing is rolled back.')

  const definition = { type: 'script', script: `${script}; echo news`, variables }
  await stage.create(`/actions/${action_id}/versions`, { version: '1.0.1', definition })
  await visitor.button('Start').click()
  await visitor.sees('The plan has changed since the preview. Nothing has started.')
  await visitor.sees('Now: action "Print the posters" 1.0.1')
  expect(await visitor.button('Start').count()).toBe(0)
  await visitor.button('Preview again').click()
  await visitor.heading('Preview: Print the posters 1.0.1')
  await visitor.button('Start').click()
  await deploymentOf(visitor)
  await page.getByRole('tab', { name: 'Log' }).click()
  await visitor.sees('3 copies in blue')
  await visitor.sees('news')
})

test('a deployment shows its steps while it runs, and its log by line, text, step and level, also without its dropped lines', async () => {
  // The error has its own gate, because the order of the two outputs is open.
  const [begin, end] = [createGate(stage), createGate(stage)]
  const id = await stage.deploy(`${begin.script}; seq 1 3000; ${end.script}; echo broken >&2`)
  const visitor = await stage.login(`/deployments/${id}`)
  const { page } = visitor
  const chosen = page.locator('.log-line[data-chosen=true]')
  await page.locator('[data-state=running]').waitFor()
  await page.getByRole('tab', { name: 'Log' }).click()
  begin.open()
  await visitor.sees(/^3,000 lines$/)
  await page.getByRole('tab', { name: 'Steps' }).click()
  end.open()
  await page.locator('[data-state=completed]').click()
  await page.getByRole('dialog').getByText('Exit code').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Show in log' }).click()
  await visitor.sees(/^3,001 lines match$/)
  await page.getByLabel('Level', { exact: true }).first().click()
  await page.getByRole('option', { name: 'error' }).click()
  await visitor.sees(/^1 line matches$/)
  expect(await page.getByTestId('log-text').allTextContents()).toEqual(['broken'])
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download log' }).click(),
  ])
  expect(fs.readFileSync(await download.path(), 'utf8')).toMatch(/\t3000\n.*\tbroken\n/)
  await page.reload()
  await visitor.sees(/^1 line matches$/)
  expect(await page.getByText('slipway logs').textContent()).toMatch(/--target \S+ --action \S+ --level error$/)

  await visitor.open(`/deployments/${id}?line=2000`)
  await chosen.filter({ hasText: '2000' }).waitFor()
  expect(await chosen.locator('.log-number').textContent()).toBe('2000')
  await page.getByLabel('Search the log').fill('299')
  await visitor.sees(/^13 lines match$/)
  await visitor.sees(/^– of 13$/)
  await page.keyboard.press('F3')
  await page.keyboard.press('F3')
  await visitor.sees(/^4 of 13$/)
  expect(await chosen.locator('mark').textContent()).toBe('299')
  expect(page.url()).toContain('line=2990')
  await page.getByRole('switch', { name: 'Show the lines around' }).check()
  await page.locator('[data-testid=log-text]', { hasText: '3000' }).waitFor()
  await chosen.filter({ hasText: '2990' }).waitFor()

  const database = await connectTo(stage.ground.suite.databaseUrl)
  await database.query('DELETE FROM log_chunks WHERE deployment_id = $1 AND first_line = 0', [id])
  await database.end()
  await visitor.open(`/deployments/${id}?line=1`)
  await chosen.filter({ hasText: '(no longer stored)' }).waitFor()
  await page.getByLabel('Line', { exact: true }).fill('2900')
  await chosen.filter({ hasText: '2900' }).waitFor()
})

test('a version goes to an environment in three clicks as it was deployed there last, and back in two', async () => {
  const harbour = (await stage.create('/environments', { name: 'harbour' })).id
  const target = await stage.ground.createLocalTarget({ name: 'crane', environment_id: harbour })
  const variables = [
    { name: 'load', required: true },
    { name: 'code', sensitive: true },
  ]
  const action_id = await createAction(stage.api, { script: 'echo lifting {{ load }}', variables }, 'lift')
  const values = { load: 'coal', code: 'a secret' }
  const last = await stage.start({ action_id, target_ids: [target], environment_id: harbour, variables: values })
  await deploymentEnd(stage.api, last)
  const definition = { type: 'script', script: 'echo lifting {{ load }} slowly', variables }
  await stage.create(`/actions/${action_id}/versions`, { version: '1.1.0', definition })

  const visitor = await stage.login(`/sources/actions/${action_id}`, 'lift')
  const { page } = visitor
  await visitor.button('Deploy to…').click()
  await page.getByRole('option', { name: 'harbour', exact: true }).click()
  // The API does not show the secret, so the form asks for it.
  await visitor.sees('The preview needs a secret')
  await visitor.button('Leave code out').click()
  await visitor.button('Preview').click()
  await visitor.heading('Preview: lift 1.1.0')
  await page.getByRole('region', { name: '1.0.0 → 1.1.0' }).waitFor()
  await page.reload()
  await visitor.heading('Preview: lift 1.1.0')
  await page.goBack()
  await visitor.heading('Deploy')
  expect(await page.getByLabel('load').inputValue()).toBe('coal')
  await page.goForward()
  await visitor.button('Start').click()
  const started = await deploymentOf(visitor)
  await deploymentEnd(stage.api, started)

  await visitor.button('Roll back…').click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('region', { name: '1.1.0 → 1.0.0' }).waitFor()
  await dialog.getByRole('button', { name: 'Roll back to 1.0.0' }).click()
  await deploymentEnd(stage.api, await deploymentOf(visitor, started))

  await visitor.open(`/sources/actions/${action_id}?version=1.0.0`)
  await visitor.button('Deploy to…').click()
  await page.getByRole('option', { name: 'harbour', exact: true }).click()
  await visitor.button('Leave code out').or(visitor.button('Start again')).first().waitFor()
})
