import type { Queryable } from '@slipway/database'
import { isFinalPendingState } from '@slipway/domain'
import { listItem, pendingItems } from '@slipway/views'
import { recordFilter } from '../catalog/record-id.ts'
import type { Answer, Call } from '../http/handler.ts'
import { answerStream, Batches } from '../http/json-stream.ts'
import { listRequests } from './pending.sql.ts'
import { requireVisible } from './visible-deployment.ts'

/** Ended requests are stored for a long time, so the list has only the newest. */
const NEWEST_ENDED = 1_000

export async function listPending(db: Queryable, { caller, query }: Call<'listPending'>): Promise<Answer> {
  const tenant = recordFilter('tenant', query.tenant_id)
  if (tenant === null) return { status: 200, body: [] }
  const wanted = { tenant_id: caller.tenant_id, of_tenant: tenant.id, of_tenant_number: tenant.number }
  const limit = query.status !== undefined && isFinalPendingState(query.status) ? NEWEST_ENDED : null
  const statuses = query.status === undefined ? (['pending', 'processing'] as const) : [query.status]
  const items = await pendingItems(db, listRequests.all(db, { ...wanted, statuses, limit }))
  return answerStream(200, new Batches(batchesOf(items)))
}

export async function getPending(
  context: Parameters<typeof listItem>[0],
  { caller, params }: Call<'getPending'>,
): Promise<Answer> {
  const { id } = await requireVisible(context.db, caller, 'pending request', params['id'] ?? '')
  return { status: 200, body: await listItem(context, 'pending', id) }
}

/** Without batches, thousands of items would keep other requests from the event loop. */
const BATCH = 500

function* batchesOf<T>(items: readonly T[]): Generator<T[]> {
  for (let first = 0; first < items.length; first += BATCH) yield items.slice(first, first + BATCH)
}
