import { counter, histogram } from '@slipway/runtime'

export const handledMessages = counter(
  'slipway_messages_total',
  'Messages of work queues by what became of them: handled, late (past their deadline), retried (again later), postponed (something they need is away) or dead',
  ['queue', 'outcome'],
)

export const waitedMessages = histogram(
  'slipway_message_wait_seconds',
  'Time from the sending of a message to its first handling',
  ['queue'],
)
