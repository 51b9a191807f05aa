import type { EventBatch, StreamBatch } from '@slipway/contracts'
import { counter, histogram } from '@slipway/runtime'

const appliedEvents = counter('slipway_run_events_total', 'Events of runs that were applied')

const eventLag = histogram(
  'slipway_run_event_lag_seconds',
  'Age of the oldest event of a batch when it was committed, by the clocks of instance and bridge',
)

const batches = histogram(
  'slipway_event_batch_duration_seconds',
  'Time to apply a batch of events: applied, repeated (nothing new), or failed, also where the lease had ended',
  ['outcome'],
)

/** Measures the application of a batch. `live` is the new part of the batch. */
export async function measured<T extends { live: Pick<StreamBatch, 'first_event' | 'next_event'> | null }>(
  { first_event, events }: EventBatch,
  apply: () => Promise<T>,
): Promise<T> {
  const began = performance.now()
  let outcome = 'failed'
  try {
    const applied = await apply()
    outcome = applied.live ? 'applied' : 'repeated'
    if (applied.live) {
      appliedEvents.inc(applied.live.next_event - applied.live.first_event)
      const oldest = events[applied.live.first_event - first_event]
      // The clock of the instance may be ahead of ours.
      if (oldest) eventLag.observe(Math.max(0, (Date.now() - Date.parse(oldest.at)) / 1_000))
    }
    return applied
  } finally {
    batches.observe({ outcome }, (performance.now() - began) / 1_000)
  }
}
