// What a user sees of a deployment that fails: the rollback, the cause, and the repetition for what failed.
import { beforeAll, expect, test } from '@jest/globals'
import { createAction, createSequence, deploymentEnd, logHistory, openTenant, type TestTenant } from '@slipway/testing'

let tenant: TestTenant

beforeAll(async () => {
  tenant = await openTenant()
})

const statesOf = (deployment: { plan: { steps: { state: string }[] } }) =>
  deployment.plan.steps.map(({ state }) => state)

test('a failure skips the following steps, is rolled back and explained', async () => {
  const { api } = tenant
  const sequence_id = await createSequence(api, [
    await createAction(api, { script: 'echo did', rollback: 'echo undid' }),
    await createAction(api, { script: 'echo "bash: line 1: deployctl: command not found" >&2; exit 127' }),
    await createAction(api, { script: 'echo never' }),
  ])
  const created = await api.post('/deployments', {
    sequence_id,
    target_ids: [await tenant.createLocalTarget()],
    rollback_strategy: 'failed_target_only',
  })
  const end = await deploymentEnd(api, created.body.deployment_id)
  expect(end).toMatchObject({ state: 'rolled_back', failed_steps: 1, error_message: expect.any(String) })
  expect(statesOf(end)).toEqual(['rolled_back', 'failed', 'skipped'])
  const lines = (await logHistory(api, end.id)).map(({ message }) => message)
  expect(lines).toEqual(expect.arrayContaining(['did', 'undid']))
  expect(lines).not.toContain('never')
  const [, failed] = (await api.get(`/deployments/${end.id}/analysis`)).body
  expect(failed).toMatchObject({
    status: 'failed',
    exit_code: 127,
    analysis: { summary: expect.stringContaining('deployctl') },
  })
})

test('a redeploy of the failed targets leaves out the others', async () => {
  const { api } = tenant
  const script = `test "$SLIPWAY_TARGET_NAME" = good || test "$SLIPWAY_VAR_FIXED" = yes`
  const action_id = await createAction(api, { script, variables: [{ name: 'fixed', default: 'no' }] })
  const [good, bad] = [
    await tenant.createLocalTarget({ name: 'good' }),
    await tenant.createLocalTarget({ name: 'bad' }),
  ]
  const created = await api.post('/deployments', {
    action_id,
    target_ids: [good, bad],
    failure_strategy: 'continue_on_failure',
  })
  expect(await deploymentEnd(api, created.body.deployment_id)).toMatchObject({ state: 'failed', completed_steps: 1 })

  const again = await api.post(`/deployments/${created.body.deployment_id}/redeploy`, {
    only_failed_targets: true,
    variables: { fixed: 'yes' },
  })
  expect(again).toMatchObject({ status: 201, body: { source_deployment_id: created.body.deployment_id } })
  const end = await deploymentEnd(api, again.body.id)
  expect(end).toMatchObject({ state: 'success', config: { target_ids: [bad] } })
})
