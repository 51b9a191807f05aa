import type { Schema } from '@slipway/client'

const FAILURES: Record<Schema<'FailureStrategy'>, string> = {
  stop_on_first_failure: 'the first failure stops it',
  continue_on_failure: 'a failure does not stop the other targets',
  ignore_failures: 'failures are ignored',
}
const ROLLBACKS: Record<Schema<'RollbackStrategy'>, string> = {
  none: 'nothing is rolled back',
  failed_target_only: 'a target that failed is rolled back',
  all_executed: 'after a failure every target is rolled back',
}

type Strategy = Pick<Schema<'CreateDeployment'>, 'target_mode' | 'failure_strategy' | 'rollback_strategy'>

/** How a deployment runs, as a sentence. */
export function strategyOf({ target_mode = 'sequential', failure_strategy, rollback_strategy }: Strategy): string {
  const failure = FAILURES[failure_strategy ?? 'stop_on_first_failure']
  return `${modeOf(target_mode)}; ${failure}; ${ROLLBACKS[rollback_strategy ?? 'none']}.`
}

function modeOf(mode: Schema<'TargetMode'>): string {
  if (mode === 'sequential' || (mode !== 'parallel' && mode.rolling.batch_size === 1)) return 'One target after another'
  if (mode === 'parallel') return 'All targets at the same time'
  return `${mode.rolling.batch_size} targets at a time`
}
