// Releases in the console: the matrix, the list of its cells, the page of a target, and the changes of a deployment.
import fs from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { createAction, createLocalTarget, deploymentEnd } from '@slipway/testing'
import type { Page } from 'playwright-core'
import { Stage } from './stage.ts'

const stage = new Stage()

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
  const north = await createLocalTarget(stage.api, { name: `${name} north`, environment_id })
  const south = await createLocalTarget(stage.api, { name: `${name} south`, environment_id })
  const red = { action_id, version_requirement: '1.0.0', variables: { colour: 'red' } }
  const green = { action_id, version_requirement: '1.1.0', variables: { colour: 'green' } }
  const first = await deploy({ ...red, target_ids: [north, south] })
  await deploy({ ...green, target_ids: [north] })
  return { action_id, north, south, first }
}

const rowOf = (page: Page, name: RegExp) => page.getByRole('row', { name })
const part = (page: Page, name: string) => page.getByRole('region', { name, exact: true })

describe('the release in force', () => {
  test('is in the matrix with the number of its targets, and the cells lead to these targets', async () => {
    const { action_id, south } = await lightBeacons('beacon')
    const visitor = await stage.arrive()
    const { page } = visitor
    await visitor.login(stage.suite.admin, '/', 'Now')
    await visitor.goTo('Matrix')
    const row = rowOf(page, /^beacon/)
    await page.getByRole('columnheader', { name: 'beacon coast' }).waitFor()
    expect(await row.textContent()).toMatch(/1\.1\.0\s*1 of 2.*by admin.*1\.0\.0\s*1 of 2.*by admin/s)
    await visitor.expectAccessible()
    await visitor.expectToFit()

    await row.getByRole('link', { name: '1.0.0', exact: true }).click()
    await visitor.heading('What is where')
    await rowOf(page, /beacon south/).waitFor()
    await rowOf(page, /beacon north/).waitFor({ state: 'detached' })
    await visitor.expectAccessible()
    await visitor.expectToFit()
    await page.getByRole('combobox', { name: 'Version', exact: true }).fill('1.1.0')
    await page.keyboard.press('Enter')
    await rowOf(page, /beacon north/).waitFor()
    await rowOf(page, /beacon south/).waitFor({ state: 'detached' })
    expect(new URL(page.url()).searchParams.get('action_id')).toBe(action_id)
    await page.reload()
    await rowOf(page, /beacon north/).waitFor()

    await visitor.open(`/sources/actions/${action_id}?tab=where`)
    await rowOf(page, /beacon south.*1\.0\.0/).waitFor()
    await page.getByRole('link', { name: 'Show with filters' }).click()
    await visitor.heading('What is where')
    await visitor.open(`/deployments?target_id=${south}`)
    await page.getByRole('link', { name: 'beacon 1.0.0' }).waitFor()
    await page.getByRole('link', { name: 'beacon 1.1.0' }).waitFor({ state: 'detached' })
  })

  test('is shown as drifted after a check from the page of the target', async () => {
    const file = path.join(stage.suite.folder, 'gong')
    const script = `echo lit > ${file}`
    const check = { script: `grep -q lit ${file} || { echo "<b>the gong is dark</b>"; exit 1; }` }
    const action_id = await createAction(stage.api, { script, check }, 'gong')
    const target = await createLocalTarget(stage.api, { name: 'gong east' })
    await deploy({ action_id, target_ids: [target] })
    fs.writeFileSync(file, 'dark')
    const visitor = await stage.arrive()
    const { page } = visitor
    await visitor.login(stage.suite.admin, `/targets/${target}`, 'gong east')
    const installed = part(page, 'What is installed')
    await installed.getByText('not checked yet').waitFor()
    await installed.getByRole('button', { name: 'Check now' }).click()
    await installed.getByText('drifted').waitFor()
    // The output of a check is shown as text.
    await installed.getByText('<b>the gong is dark</b>').waitFor()
    await visitor.expectAccessible()
    await visitor.expectToFit()
    await visitor.goTo('Matrix')
    await rowOf(page, /^gong/).getByRole('link', { name: '1 drifted' }).click()
    await visitor.heading('What is where')
    await rowOf(page, /gong east.*drifted/).waitFor()
    expect(new URL(page.url()).searchParams.get('state')).toBe('drifted')
    await visitor.expectAccessible()
  })

  test('is on the page of its target, with the history and the failed attempt', async () => {
    const { action_id, north } = await lightBeacons('lamp')
    const failed = await deploy({
      action_id,
      version_requirement: '1.0.0',
      variables: { colour: 'black' },
      target_ids: [north],
    })
    const visitor = await stage.arrive()
    const { page } = visitor
    await visitor.login(stage.suite.admin, `/targets/${north}`, 'lamp north')
    const installed = part(page, 'What is installed').getByRole('row', { name: /lamp/ })
    await installed.getByText('1.1.0', { exact: true }).waitFor()
    await installed.getByText('failed', { exact: true }).waitFor()
    expect(await installed.getByRole('link', { name: '1.0.0' }).getAttribute('href')).toBe(`/deployments/${failed}`)
    const history = part(page, 'History')
    const texts = await history.locator('tbody tr').allTextContents()
    expect(texts.map((text) => text.match(/^lamp (\S+?)(failed|applied)(in force)?/)?.slice(1))).toEqual([
      ['1.0.0', 'failed', undefined],
      ['1.1.0', 'applied', 'in force'],
      ['1.0.0', 'applied', undefined],
    ])
    await visitor.expectAccessible()

    await visitor.open('/matrix?search=lamp')
    const row = rowOf(page, /^lamp/)
    await row.getByText('1 failed').waitFor()
    await row.getByRole('link', { name: '1.1.0', exact: true }).waitFor()
    await visitor.open('/releases?state=failed&search=lamp')
    await rowOf(page, /lamp north/).waitFor()
    await visitor.open('/releases?state=applied&search=lamp')
    await rowOf(page, /lamp south/).waitFor()
    expect(await rowOf(page, /lamp north/).count()).toBe(0)
  })

  test('is hidden from users of another tenant', async () => {
    const environment_id = (await stage.create('/environments', { name: 'open sea' })).id
    const [own, other] = [
      (await stage.create('/tenants', { name: 'near line' })).id,
      (await stage.create('/tenants', { name: 'far line' })).id,
    ]
    const action_id = await createAction(stage.api, definition, 'signal')
    const target = await createLocalTarget(stage.api, { name: 'shared mast' })
    const id = await deploy({ action_id, target_ids: [target], tenant_id: own, environment_id })
    const [insider, outsider] = [await stage.arrive(), await stage.arrive()]
    await insider.login(await stage.createAccount(['operator'], { tenant_id: own }), '/matrix', 'Matrix')
    await rowOf(insider.page, /^signal.*1\.0\.0/s).waitFor()
    await outsider.login(await stage.createAccount(['operator'], { tenant_id: other }), '/matrix', 'Matrix')
    await outsider.sees('Nothing has been deployed yet')
    await outsider.open('/releases')
    await outsider.sees('Nothing has been deployed yet')
    await outsider.open(`/targets/${target}`)
    await outsider.sees('Nothing is installed yet')
    await outsider.sees('No command of a deployment has started here yet')
    await outsider.open(`/deploy?kind=action&id=${action_id}&targets=${target}`)
    await outsider.button('Preview').click()
    await part(outsider.page, 'Nothing → 1.0.0').waitFor()
    await outsider.open(`/deployments/${id}?tab=changes`)
    await outsider.sees('NOT_FOUND')
    await insider.open('/releases?search=signal')
    await insider.page.getByRole('link', { name: 'shared mast' }).waitFor()

    const admin = await stage.arrive()
    await admin.login(stage.suite.admin, '/matrix?search=signal', 'Matrix')
    await admin.page.getByRole('rowheader', { name: 'near line' }).waitFor()
  })
})

test('the list of deployments can be filtered by source, version, user and time', async () => {
  const { action_id } = await lightBeacons('buoy')
  const visitor = await stage.arrive()
  const { page } = visitor
  await visitor.login(stage.suite.admin, '/deployments', 'Deployments')
  const link = (version: string) => page.getByRole('link', { name: `buoy ${version}` })
  await link('1.1.0').waitFor()
  await visitor.button('More filters').click()
  await visitor.choose('Source type', 'action')
  await visitor.choose('Source', 'buoy')
  await page.getByRole('combobox', { name: 'Version', exact: true }).fill('1.0.0')
  await page.keyboard.press('Enter')
  await link('1.1.0').waitFor({ state: 'detached' })
  await link('1.0.0').waitFor()
  expect(new URL(page.url()).searchParams.get('action_id')).toBe(action_id)
  await visitor.expectAccessible()
  await visitor.expectToFit()
  await page.getByRole('combobox', { name: 'Triggered by' }).fill('nobody')
  await page.keyboard.press('Enter')
  await visitor.sees('No deployment is like this')
  await page.getByRole('combobox', { name: 'Triggered by' }).fill('admin')
  await page.keyboard.press('Enter')
  await link('1.0.0').waitFor()
  await page.getByLabel('Before').fill('2020-01-01T00:00:00')
  await page.keyboard.press('Enter')
  await visitor.sees('No deployment is like this')
  await visitor.button('Remove filters').click()
  await link('1.1.0').waitFor()
  expect(new URL(page.url()).search).toBe('')
})

describe('a preview', () => {
  test('shows the changes of each target, and can leave out unchanged targets', async () => {
    const { action_id, north, south } = await lightBeacons('torch')
    const visitor = await stage.arrive()
    const { page } = visitor
    const address = `/deploy?kind=action&id=${action_id}&version=1.1.0&targets=${north},${south}`
    await visitor.login(stage.suite.admin, address, 'Deploy')
    await page.getByLabel('colour').fill('green')
    await visitor.sees('Selects 2 targets')
    await visitor.button('Preview').click()
    await visitor.heading('Preview: torch 1.1.0')
    await part(page, '1.1.0 → 1.1.0').getByText('unchanged', { exact: true }).waitFor()
    const changed = part(page, '1.0.0 → 1.1.0')
    await changed.getByRole('link', { name: 'torch south' }).waitFor()
    await changed
      .getByRole('table', { name: 'Variables that differ' })
      .getByRole('row', { name: 'colour red green' })
      .waitFor()
    const compare = changed.getByRole('link', { name: 'Compare the versions of torch' })
    expect(await compare.getAttribute('href')).toContain('tab=compare&before=1.0.0&after=1.1.0')
    await visitor.expectAccessible()
    await visitor.expectToFit()

    await page.getByRole('switch', { name: 'Only targets that change' }).click()
    await visitor.sees('1 target left out: torch north')
    await visitor.sees(/runs on 1 target/)
    expect(await part(page, '1.1.0 → 1.1.0').count()).toBe(0)
    await visitor.button('Start').click()
    await page.waitForURL((url) => url.pathname.startsWith('/deployments/'))
    const id = new URL(page.url()).pathname.split('/').at(-1) ?? ''
    await deploymentEnd(stage.api, id)
    await page.getByRole('tab', { name: 'Changes' }).click()
    await visitor.sees('1 target left out, with the same versions and values already')
    await changed.getByRole('row', { name: 'colour red green' }).waitFor()
    await changed.getByRole('link', { name: 'torch south' }).waitFor()
    await visitor.expectAccessible()
    await visitor.open('/matrix?search=torch')
    await rowOf(page, /^torch/)
      .getByRole('link', { name: '1.1.0', exact: true })
      .waitFor()
    expect(await rowOf(page, /^torch/).textContent()).not.toContain('1.0.0')
  })

  test('without changes says so, and offers to deploy to all targets', async () => {
    const { action_id, north } = await lightBeacons('candle')
    const visitor = await stage.arrive()
    const { page } = visitor
    await visitor.login(stage.suite.admin, `/deploy?kind=action&id=${action_id}&targets=${north}`, 'Deploy')
    await page.getByLabel('colour').fill('green')
    await visitor.button('Preview').click()
    await page.getByRole('switch', { name: 'Only targets that change' }).click()
    const alert = page.getByRole('alert')
    await alert.getByText('Nothing to deploy').waitFor()
    await visitor.expectAccessible()
    await visitor.button('Preview all targets').click()
    await alert.waitFor({ state: 'detached' })
    await visitor.button('Start').click()
    await page.waitForURL((url) => url.pathname.startsWith('/deployments/'))
  })

  test('of a redeploy can leave out unchanged targets too', async () => {
    const { first } = await lightBeacons('flare')
    const visitor = await stage.arrive()
    const { page } = visitor
    await visitor.login(stage.suite.admin, `/deployments/${first}`, 'flare 1.0.0')
    await visitor.button('Redeploy').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText(/on 2 targets/).waitFor()
    await dialog.getByText('1 target with the same versions and values already').waitFor()
    await dialog.getByRole('switch', { name: 'Only targets that change' }).click()
    await dialog.getByText(/on 1 target,/).waitFor()
    await visitor.expectAccessible()
    await dialog.getByRole('button', { name: 'Redeploy', exact: true }).click()
    await page.waitForURL((url) => url.pathname.startsWith('/deployments/') && !url.pathname.endsWith(first))
    await page.getByRole('tab', { name: 'Changes' }).click()
    await part(page, '1.1.0 → 1.0.0').getByRole('link', { name: 'flare north' }).waitFor()
    await visitor.sees('1 target left out, with the same versions and values already')
  })
})
