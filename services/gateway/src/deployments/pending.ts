import type { Queryable } from '@slipway/database'
import { isFinalPendingState } from '@slipway/domain'
import { pendingItems } from '@slipway/views'
import type { Answer, Call } from '../http/handler.ts'
import { answerStream, Batches } from '../http/json-stream.ts'
import { Filter } from './filter.ts'

/** Requests that have ended are kept for long: only the newest are listed. */
const NEWEST_ENDED = 1_000

/** Requests that wait, in the order in which they will start, then others; what is not set is left out. */
export async function listPending(db: Queryable, { caller, query }: Call<'listPending'>): Promise<Answer> {
  const filter = new Filter(caller, 'r').addRecord('tenant', 'r.tenant_id', query.tenant_id)
  const statuses = filter.parameter(query.status === undefined ? ['pending', 'processing'] : [query.status])
  const limit = query.status !== undefined && isFinalPendingState(query.status) ? `LIMIT ${NEWEST_ENDED}` : ''
  // A position counts everybody who waits, also those whom the caller cannot see.
  const items = await pendingItems(
    db,
    `FROM (SELECT q.*, w.position FROM pending_requests q LEFT JOIN waiting_positions() w ON w.id = q.id) r
      WHERE r.status = ANY(${statuses}::pending_status[]) AND ${filter.sql}
      ORDER BY r.position NULLS LAST, r.queued_at DESC, r.id DESC ${limit}`,
    filter.parameters,
  )
  return answerStream(200, new Batches(batchesOf(items)))
}

/** Items of a batch: without batches, thousands of items would hold up other requests. */
const BATCH = 500

function* batchesOf<T>(items: readonly T[]): Generator<T[]> {
  for (let first = 0; first < items.length; first += BATCH) yield items.slice(first, first + BATCH)
}
