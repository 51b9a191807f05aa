import { counter, histogram } from '@slipway/runtime'

export const appliedEvents = counter('slipway_run_events_total', 'Events of runs that were applied')

export const eventLag = histogram(
  'slipway_run_event_lag_seconds',
  'Age of the oldest event of a batch when it was committed, by the clocks of instance and bridge',
)

export const batches = histogram(
  'slipway_event_batch_duration_seconds',
  'Time to apply a batch of events: applied, repeated (nothing new), or failed, also where the lease had ended',
  ['outcome'],
)

export const unpublished = counter(
  'slipway_live_failures_total',
  'Batches that Redis did not take; watchers get them from Postgres, later',
)
