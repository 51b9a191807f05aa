// One deployment from the login to its log, results and audit record.
import { beforeAll, expect, test } from '@jest/globals'
import { createAction, deploymentEnd, logHistory, openTenant, type TestTenant } from '@slipway/testing'

let tenant: TestTenant

beforeAll(async () => {
  tenant = await openTenant()
})

test('a deployment runs on a target, and its lines and results are stored', async () => {
  const action_id = await createAction(tenant.api, {
    script: 'echo "Good day, {{ name }}"',
    variables: [{ name: 'name' }],
  })
  const target = await tenant.createLocalTarget()
  const created = await tenant.api.post('/deployments', { action_id, target_ids: [target], variables: { name: 'Ada' } })
  expect(created).toMatchObject({ status: 201 })

  const end = await deploymentEnd(tenant.api, created.body.deployment_id)
  expect(end.state).toBe('success')
  const lines = await logHistory(tenant.api, created.body.deployment_id)
  expect(lines.flatMap(({ stdout }) => stdout ?? [])).toEqual(['Good day, Ada'])
})
