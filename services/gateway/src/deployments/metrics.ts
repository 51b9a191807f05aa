import { histogram } from '@slipway/runtime'

export const answerWait = histogram(
  'slipway_answer_wait_seconds',
  'Time until a command was answered or refused, or the gateway stopped waiting (unanswered)',
  ['command', 'outcome'],
)
