import { counter } from '@slipway/runtime'

export const handovers = counter(
  'slipway_runs_handed_over_total',
  'Runs given to an instance: accepted, refused for ever, or failed for now',
  ['outcome'],
)
