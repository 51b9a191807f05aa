import { histogram } from '@slipway/runtime'

export const plans = histogram(
  'slipway_plan_duration_seconds',
  'Time to make a plan, or to refuse it; large ones are made in a thread of their own, one by one',
  ['command', 'size'],
)
