import { counter } from '@slipway/runtime'

export const sentBatches = counter(
  'slipway_event_batches_sent_total',
  'Batches of events by outcome: accepted, failed (sent again) or fenced (the lease of the run has ended)',
  ['outcome'],
)
