// Rules of environments in a browser: the form, approvals by another user, promotion, and a start time.
import { expect, test } from '@jest/globals'
import { createAction, deploymentEnd, openTenant } from '@slipway/testing'
import { Stage } from '../console/stage.ts'

const stage = new Stage(openTenant)

const idOf = (address: string) => new URL(address).pathname.split('/').at(-1) ?? ''

test('the rules that the form of an environment gives are in the list in sentences', async () => {
  await stage.create('/environments', { name: 'pier' })
  await stage.create('/environments', { name: 'fjord' })
  const visitor = await stage.login('/environments', 'Environments')
  const { page } = visitor
  const dialog = page.getByRole('dialog')
  await visitor.button('Edit fjord').click()
  await dialog.getByRole('switch', { name: 'Deployments need approvals' }).click()
  await dialog.getByRole('switch', { name: /another environment before/ }).click()
  await visitor.choose('Environment before', 'pier')
  await visitor.button('Save').click()
  const rules = page.getByRole('row', { name: /fjord/ })
  await rules.getByText('Needs 1 approval, within 1 day').waitFor()
  await rules.getByText('Takes only versions that are in force in pier').waitFor()
})

test('a version goes from one environment to the next with an approval of another user', async () => {
  const quay = (await stage.create('/environments', { name: 'quay' })).id
  const sea = (await stage.create('/environments', { name: 'open sea' })).id
  const moored = await stage.ground.createLocalTarget({ name: 'moored', environment_id: quay })
  const sailing = await stage.ground.createLocalTarget({ name: 'sailing', environment_id: sea })
  const action_id = await createAction(stage.api, {}, 'sail')
  await deploymentEnd(stage.api, await stage.start({ action_id, target_ids: [moored, sailing] }))
  const published = { version: '1.1.0', definition: { type: 'script', script: 'echo sails set' } }
  await stage.create(`/actions/${action_id}/versions`, published)
  await deploymentEnd(stage.api, await stage.start({ action_id, target_ids: [moored] }))
  const rules = { approvals: {}, promotion: { from_environment_id: quay } }
  await stage.api.call('PATCH', `/environments/${sea}`, { rules })

  const author = await stage.login('/matrix', 'Matrix')
  const { page } = author
  const row = page.getByRole('row', { name: /^sail/ })
  await row.getByText('ready').waitFor()
  await row.getByRole('link', { name: 'Promote' }).click()
  await author.heading('Preview: sail 1.1.0')
  await author.button('Back to the form').click()
  await author.sees(/1\.1\.0, with all its parts as in quay/)
  await author.button('Preview').click()
  await author.heading('Preview: sail 1.1.0')
  await page.getByRole('status').getByText('It would wait').waitFor()
  await author.button('Ask for approval').click()
  await author.heading('Request: sail 1.1.0')
  await author.sees(/somebody else must approve it/)
  expect(await author.button('Approve').getAttribute('aria-disabled')).toBe('true')

  const approver = await stage.arrive()
  await approver.login(await stage.createAccount(['admin']), '/', 'Now')
  await approver.page.getByRole('link', { name: /^Queue.*1 to approve/ }).click()
  await approver.page.getByRole('cell', { name: 'approval', exact: true }).waitFor()
  await approver.page.getByRole('link', { name: 'Approve…' }).click()
  await approver.heading('Request: sail 1.1.0')
  await approver.page.getByRole('region', { name: '1.0.0 → 1.1.0' }).waitFor()
  await approver.page.getByRole('table', { name: 'Steps by target' }).getByText('sail 1.1.0').waitFor()
  await approver.expectAccessible()
  await approver.expectToFit()
  await approver.button('Approve').click()
  await approver.page.getByLabel('Comment').fill('fair wind')
  await approver.page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click()
  await approver.page.getByRole('link', { name: 'Show its deployment' }).click()
  await approver.heading('sail 1.1.0')
  await approver.sees(/approved by .* \(fair wind\)/)
  await deploymentEnd(stage.api, idOf(approver.page.url()))
})

test('a request with a start time waits outside of the queue, and says when it starts', async () => {
  const action_id = await createAction(stage.api, {}, 'night watch')
  const target = await stage.ground.createLocalTarget()
  const visitor = await stage.login(`/deploy?kind=action&id=${action_id}&targets=${target}`, 'Deploy')
  await visitor.page.getByLabel('Start time').fill('2099-01-01T02:00:00')
  await visitor.button('Preview').click()
  await visitor.button('Schedule').click()
  await visitor.heading('Request: night watch 1.0.0')
  await visitor.page
    .getByRole('status')
    .getByText(/Starts at/)
    .waitFor()
  await visitor.goTo('Queue')
  await visitor.page.getByRole('cell', { name: 'start time', exact: true }).waitFor()
  await visitor.confirm('Cancel request')
})
