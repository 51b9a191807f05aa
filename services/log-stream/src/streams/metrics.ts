import type { ServerResponse } from 'node:http'
import { counter, measure } from '@slipway/runtime'
import { whenClosed } from './closed.ts'

type Kind = 'log' | 'changes'

const open: Record<Kind, number> = { log: 0, changes: 0 }

const opened = counter('slipway_streams_opened_total', 'Streams that were opened', ['kind'])

export const dropped = counter(
  'slipway_dropped_watchers_total',
  'Clients that were cut off: slow (read too slowly), missed (events may have been lost), revoked or unchecked (nobody could say whether they still may)',
  ['reason'],
)

export const missed = counter(
  'slipway_missed_batches_total',
  'Times that what Redis did not bring was found in Postgres',
)

measure('open_streams', { slipway_open_streams: { help: 'Streams that are open', label: 'kind' } }, () => ({
  slipway_open_streams: { ...open },
}))

/** Counts a stream from now until its client is gone. */
export function countStream(kind: Kind, response: ServerResponse): void {
  open[kind] += 1
  opened.inc({ kind })
  whenClosed(response, () => {
    open[kind] -= 1
  })
}
