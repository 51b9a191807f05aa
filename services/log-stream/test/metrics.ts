import { ownMetric } from '@slipway/testing'

/** The number of clients that were cut off for this reason. */
export const droppedFor = (reason: string) => ownMetric('slipway_dropped_watchers_total', { reason })

/** How often a batch was missing in Redis and was read from Postgres. */
export const missedBatches = () => ownMetric('slipway_missed_batches_total')

/** The number of open streams of both kinds. */
export const openStreams = async () =>
  (await ownMetric('slipway_open_streams', { kind: 'log' })) +
  (await ownMetric('slipway_open_streams', { kind: 'changes' }))
