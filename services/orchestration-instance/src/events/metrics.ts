import { counter } from '@slipway/runtime'

export const sentBatches = counter(
  'slipway_event_batches_sent_total',
  'Batches of events by what the executor-bridge said: accepted, failed (sent again) or fenced (the run is elsewhere)',
  ['outcome'],
)
