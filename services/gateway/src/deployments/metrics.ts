import { histogram } from '@slipway/runtime'

export const answers = histogram(
  'slipway_answer_wait_seconds',
  'How long commands were waited for: answered, refused, or unanswered (then the outcome is looked up)',
  ['command', 'outcome'],
)
