import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { fromRows, type Plan, type PlannedAction, type PlannedTarget, toRows } from '../src/index.ts'

const text = fc.string({ unit: 'grapheme' })
const id = fc.uuid()
const variables = fc.dictionary(text, fc.jsonValue({ noUnicodeString: false }))
const named = fc.record({ id, name: text })

const action: fc.Arbitrary<PlannedAction> = fc.record({
  sequence_id: id,
  sequence_name: text,
  sequence_version: text,
  sequence_order: fc.nat(),
  action_id: id,
  action_name: text,
  action_version: text,
  action_order: fc.nat(),
  timeout_seconds: fc.nat(),
  max_retries: fc.nat(),
  has_rollback: fc.boolean(),
  variables,
})
const target: fc.Arbitrary<PlannedTarget> = fc.record({ id, name: text, variables })
const plan: fc.Arbitrary<Plan> = fc.record({
  source: fc.record({ type: fc.constantFrom('solution', 'sequence', 'action'), id, name: text, version: text }),
  tenant: fc.option(named),
  environment: fc.option(named),
  actions: fc.array(action),
  targets: fc.array(target),
  shared_variables: variables,
  override_variables: variables,
  sensitive: fc.array(text),
  sealed_under: id,
  options: fc.record({
    target_mode: fc.oneof(
      fc.constantFrom('sequential' as const, 'parallel' as const),
      fc.record({ rolling: fc.record({ batch_size: fc.integer({ min: 1 }) }) }),
    ),
    failure_strategy: fc.constantFrom('stop_on_first_failure', 'continue_on_failure', 'ignore_failures'),
    rollback_strategy: fc.constantFrom('none', 'failed_target_only', 'all_executed'),
    priority: fc.integer(),
    timeout_seconds: fc.nat(),
    max_retries: fc.nat(),
    deployment_timeout_seconds: fc.nat(),
    bypass_cache: fc.boolean(),
  }),
})

test('a plan converted to rows and back is unchanged', () => {
  fc.assert(
    fc.property(plan, (given) => {
      const rows = toRows(given)
      expect(fromRows(rows)).toEqual(given)
      expect(rows.plan_head).not.toHaveProperty('actions')
      expect(rows.plan_head).not.toHaveProperty('targets')
      expect(rows.actions.map(({ action_index }) => action_index)).toEqual([...given.actions.keys()])
      expect(rows.targets.map(({ target_index }) => target_index)).toEqual([...given.targets.keys()])
    }),
  )
})
