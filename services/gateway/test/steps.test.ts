import { randomUUID } from 'node:crypto'
import { expect, test } from '@jest/globals'
import { stepId } from '@slipway/domain'
import { stepBatches } from '../src/deployments/steps.ts'

const id = randomUUID()
const sequence = { sequence_id: randomUUID(), sequence_name: 'ship “it”', sequence_version: '1.0.0', sequence_order: 0 }
const actions = ['build', 'test', 'sail 🚢'].map((action_name, action_order) => ({
  ...{ ...sequence, action_id: randomUUID(), action_name, action_version: '1.1.0', action_order },
}))
const pending = { state: 'pending', started_at: null, completed_at: null, exit_code: null, error_message: null }

test.each([
  ['one target', ['a']],
  ['many', Array.from({ length: 3_000 }, (_, n) => `rack-${n}`)],
])('steps are returned in batches, in the order of the plan: %s', (_, names) => {
  const targets = names.map((name) => ({ id: randomUUID(), name }))
  const rows = targets.map((target) => ({ target_id: target.id, target_name: target.name }))
  const batches = [...stepBatches(id, actions, rows)]
  expect(batches.every((batch) => batch.length > 0 && batch.length <= 200)).toBe(true)
  const steps = targets.flatMap((target, row) =>
    actions.map((action, column) => ({
      ...{ id: stepId(id, row, column), target_id: target.id, target_name: target.name },
      ...{ ...action, ...pending, retry_count: 0, duration_ms: null, end_confirmed: null },
    })),
  )
  expect(batches.flat()).toEqual(steps)
})
