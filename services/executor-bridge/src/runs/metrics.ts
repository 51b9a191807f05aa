import { counter } from '@slipway/runtime'

export const startedRuns = counter(
  'slipway_runs_handed_over_total',
  'Runs given to an instance (sent), that can never start on it (refused), or not now (failed)',
  ['outcome'],
)
