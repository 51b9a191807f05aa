// Releases in a browser: what is where, what a deployment changes, and drift.
import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from '@jest/globals'
import { createAction, deploymentEnd, openTenant } from '@slipway/testing'
import type { Page } from 'playwright-core'
import { Stage } from '../console/stage.ts'

const stage = new Stage(openTenant)

/** An action that fails for the colour black. */
const definition = {
  type: 'script',
  script: 'test "$SLIPWAY_VAR_COLOUR" != black',
  variables: [{ name: 'colour', default: 'white' }],
}

async function deploy(request: Record<string, unknown>): Promise<string> {
  const { deployment_id } = await stage.create('/deployments', request)
  await deploymentEnd(stage.api, deployment_id)
  return deployment_id
}

/** Deploys 1.0.0 in red to two targets of an environment, and then 1.1.0 in green to the first of them. */
async function lightBeacons(name: string) {
  const action_id = await createAction(stage.api, definition, name)
  await stage.create(`/actions/${action_id}/versions`, {
    version: '1.1.0',
    definition: { ...definition, env: { NEW: '1' } },
  })
  const environment_id = (await stage.create('/environments', { name: `${name} coast` })).id
  const north = await stage.ground.createLocalTarget({ name: `${name} north`, environment_id })
  const south = await stage.ground.createLocalTarget({ name: `${name} south`, environment_id })
  const red = { action_id, version_requirement: '1.0.0', variables: { colour: 'red' } }
  const green = { action_id, version_requirement: '1.1.0', variables: { colour: 'green' } }
  const first = await deploy({ ...red, target_ids: [north, south] })
  await deploy({ ...green, target_ids: [north] })
  return { action_id, north, south, first }
}

const rowOf = (page: Page, name: RegExp) => page.getByRole('row', { name })
const part = (page: Page, name: string) => page.getByRole('region', { name, exact: true })

test('the release in force is in the matrix, in the list of its targets, and on the page of a target with its history', async () => {
  const { action_id, north, south } = await lightBeacons('beacon')
  const failed = await deploy({
    action_id,
    version_requirement: '1.0.0',
    variables: { colour: 'black' },
    target_ids: [north],
  })
  const visitor = await stage.login('/', 'Now')
  const { page } = visitor
  await visitor.goTo('Matrix')
  const row = rowOf(page, /^beacon/)
  await page.getByRole('columnheader', { name: 'beacon coast' }).waitFor()
  expect(await row.textContent()).toMatch(/1\.1\.0\s*1 of 2.*1\.0\.0\s*1 of 2/s)
  await row.getByText('1 failed').waitFor()
  await row.getByRole('link', { name: '1.0.0', exact: true }).click()
  await visitor.heading('Releases')
  await rowOf(page, /beacon south/).waitFor()
  await rowOf(page, /beacon north/).waitFor({ state: 'detached' })
  await page.getByRole('combobox', { name: 'Version', exact: true }).fill('1.1.0')
  await page.keyboard.press('Enter')
  await rowOf(page, /beacon north/).waitFor()
  await rowOf(page, /beacon south/).waitFor({ state: 'detached' })
  expect(new URL(page.url()).searchParams.get('action_id')).toBe(action_id)
  await page.reload()
  await rowOf(page, /beacon north/).waitFor()
  await visitor.open('/releases?state=failed&search=beacon')
  await rowOf(page, /beacon north/).waitFor()
  expect(await rowOf(page, /beacon south/).count()).toBe(0)

  await visitor.open(`/sources/actions/${action_id}?tab=where`)
  await rowOf(page, /beacon south.*1\.0\.0/).waitFor()
  await visitor.open(`/deployments?target_id=${south}`)
  await page.getByRole('link', { name: 'beacon 1.0.0' }).waitFor()
  expect(await page.getByRole('link', { name: 'beacon 1.1.0' }).count()).toBe(0)

  await visitor.open(`/targets/${north}`)
  const installed = part(page, 'What is installed').getByRole('row', { name: /beacon/ })
  await installed.getByText('1.1.0', { exact: true }).waitFor()
  await installed.getByText('failed', { exact: true }).waitFor()
  expect(await installed.getByRole('link', { name: '1.0.0' }).getAttribute('href')).toBe(`/deployments/${failed}`)
  const history = part(page, 'History').locator('tbody tr')
  await history.nth(2).waitFor()
  const texts = await history.allTextContents()
  expect(texts.map((text) => text.match(/^beacon (\S+?)(failed|applied)(in force)?/)?.slice(1))).toEqual([
    ['1.0.0', 'failed', undefined],
    ['1.1.0', 'applied', 'in force'],
    ['1.0.0', 'applied', undefined],
  ])

  await visitor.goTo('Deployments')
  const link = (version: string) => page.getByRole('link', { name: `beacon ${version}` })
  await visitor.button('More filters').click()
  await visitor.choose('Source type', 'action')
  await visitor.choose('Source', 'beacon')
  await page.getByRole('combobox', { name: 'Version', exact: true }).fill('1.1.0')
  await page.keyboard.press('Enter')
  await link('1.0.0').first().waitFor({ state: 'detached' })
  await link('1.1.0').waitFor()
  await page.getByLabel('Before').fill('2020-01-01T00:00:00')
  await page.keyboard.press('Enter')
  await visitor.sees('No deployment fits')
  await visitor.button('Remove filters').click()
  await link('1.0.0').first().waitFor()
  expect(new URL(page.url()).search).toBe('')
})

test('a check from the page of a target shows drift, and the matrix leads to it', async () => {
  const file = path.join(stage.folder, 'gong')
  const check = { script: `grep -q lit ${file} || { echo "<b>the gong is dark</b>"; exit 1; }` }
  const action_id = await createAction(stage.api, { script: `echo lit > ${file}`, check }, 'gong')
  const target = await stage.ground.createLocalTarget({ name: 'gong east' })
  await deploy({ action_id, target_ids: [target] })
  fs.writeFileSync(file, 'dark')
  const visitor = await stage.login(`/targets/${target}`, 'gong east')
  const { page } = visitor
  const installed = part(page, 'What is installed')
  await installed.getByText('not checked yet').waitFor()
  await installed.getByRole('button', { name: 'Check now' }).click()
  await installed.getByText('drifted').waitFor()
  // The output of a check is shown as text.
  await installed.getByText('<b>the gong is dark</b>').waitFor()
  await visitor.goTo('Matrix')
  await rowOf(page, /^gong/).getByRole('link', { name: '1 drifted' }).click()
  await visitor.heading('Releases')
  await rowOf(page, /gong east.*drifted/).waitFor()
  expect(new URL(page.url()).searchParams.get('state')).toBe('drifted')
})

test('preview and redeploy show the changes of each target, and leave out what would not change', async () => {
  const { action_id, north, south, first } = await lightBeacons('torch')
  const address = `/deploy?kind=action&id=${action_id}&version=1.1.0&targets=${north},${south}`
  const visitor = await stage.login(address, 'Deploy')
  const { page } = visitor
  await page.getByLabel('colour').fill('green')
  await visitor.button('Preview').click()
  await visitor.heading('Preview: torch 1.1.0')
  await part(page, '1.1.0 → 1.1.0').getByText('unchanged', { exact: true }).waitFor()
  const changed = part(page, '1.0.0 → 1.1.0')
  await changed.getByRole('link', { name: 'torch south' }).waitFor()
  const values = changed.getByRole('table', { name: 'Variables that differ' })
  await values.getByRole('row', { name: 'colour red green' }).waitFor()
  const compare = changed.getByRole('link', { name: 'Compare the versions of torch' })
  expect(await compare.getAttribute('href')).toContain('tab=compare&before=1.0.0&after=1.1.0')

  await page.getByRole('switch', { name: 'Only targets that change' }).click()
  await visitor.sees('1 target left out: torch north')
  await visitor.sees(/runs on 1 target/)
  expect(await part(page, '1.1.0 → 1.1.0').count()).toBe(0)
  await visitor.button('Start').click()
  await page.waitForURL((url) => url.pathname.startsWith('/deployments/'))
  await deploymentEnd(stage.api, new URL(page.url()).pathname.split('/').at(-1) ?? '')
  await page.getByRole('tab', { name: 'Changes' }).click()
  await visitor.sees('1 target left out, with the same versions and values already')
  await changed.getByRole('row', { name: 'colour red green' }).waitFor()

  await visitor.open(address)
  await page.getByLabel('colour').fill('green')
  await visitor.button('Preview').click()
  await visitor.sees('All 2 targets already have 1.1.0')
  await visitor.button('Start again').waitFor()

  // One of the two targets of the first deployment gets its version again.
  await deploy({ action_id, version_requirement: '1.0.0', variables: { colour: 'red' }, target_ids: [south] })
  await visitor.open(`/deployments/${first}`)
  await visitor.button('Redeploy').click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText(/on 2 targets/).waitFor()
  await dialog.getByText('1 target with the same versions and values already').waitFor()
  await dialog.getByRole('switch', { name: 'Only targets that change' }).click()
  await dialog.getByText(/on 1 target,/).waitFor()
  await dialog.getByRole('button', { name: 'Redeploy', exact: true }).click()
  await page.waitForURL((url) => url.pathname.startsWith('/deployments/') && !url.pathname.endsWith(first))
  await page.getByRole('tab', { name: 'Changes' }).click()
  await part(page, '1.1.0 → 1.0.0').getByRole('link', { name: 'torch north' }).waitFor()
})
