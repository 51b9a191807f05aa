import type { Queryable } from '@slipway/database'
import { isFinalPendingState } from '@slipway/domain'
import { pendingItems } from '@slipway/views'
import { wantedRecord } from '../catalog/record-id.ts'
import type { Answer, Call } from '../http/handler.ts'
import { answerStream, Batches } from '../http/json-stream.ts'
import { listRequests } from './pending.sql.ts'

/** Requests that have ended are kept for long: only the newest are listed. */
const NEWEST_ENDED = 1_000

/** Requests that wait, in the order in which they will start, then others; what is not set is left out. */
export async function listPending(db: Queryable, { caller, query }: Call<'listPending'>): Promise<Answer> {
  const tenant = wantedRecord('tenant', query.tenant_id)
  if (tenant === null) return { status: 200, body: [] }
  const wanted = { tenant_id: caller.tenant_id, of_tenant: tenant.id, of_tenant_number: tenant.number }
  const limit = query.status !== undefined && isFinalPendingState(query.status) ? NEWEST_ENDED : null
  const statuses = query.status === undefined ? (['pending', 'processing'] as const) : [query.status]
  const items = await pendingItems(db, listRequests.all(db, { ...wanted, statuses, limit }))
  return answerStream(200, new Batches(batchesOf(items)))
}

/** Items of a batch: without batches, thousands of items would hold up other requests. */
const BATCH = 500

function* batchesOf<T>(items: readonly T[]): Generator<T[]> {
  for (let first = 0; first < items.length; first += BATCH) yield items.slice(first, first + BATCH)
}
