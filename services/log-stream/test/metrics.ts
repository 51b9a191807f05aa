import { exposition } from '@slipway/runtime'
import { parseMetrics } from '@slipway/testing'

const told = async (name: string, labels: Record<string, string>) =>
  parseMetrics((await exposition()).text).value(name, labels) ?? 0

/** How many clients were cut off for this reason so far. */
export const droppedFor = (reason: string) => told('slipway_dropped_watchers_total', { reason })

/** How often Postgres had what Redis did not bring. */
export const missedBatches = () => told('slipway_missed_batches_total', {})

/** How many streams count as open, of either kind. */
export const openStreams = async () =>
  (await told('slipway_open_streams', { kind: 'log' })) + (await told('slipway_open_streams', { kind: 'changes' }))
