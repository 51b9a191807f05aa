import { exposition } from '@slipway/runtime'
import { parseMetrics } from '@slipway/testing'

const told = async (name: string, labels: Record<string, string>) =>
  parseMetrics((await exposition()).text).value(name, labels) ?? 0

/** The number of clients that were cut off for this reason. */
export const droppedFor = (reason: string) => told('slipway_dropped_watchers_total', { reason })

/** How often a batch was missing in Redis and was read from Postgres. */
export const missedBatches = () => told('slipway_missed_batches_total', {})

/** The number of open streams of both kinds. */
export const openStreams = async () =>
  (await told('slipway_open_streams', { kind: 'log' })) + (await told('slipway_open_streams', { kind: 'changes' }))
