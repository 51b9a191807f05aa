import type { Database } from '@slipway/database'
import { listItem, pendingItems } from '@slipway/database/read-models'
import { isFinalPendingState } from '@slipway/domain'
import type { Answer } from '@slipway/http'
import { answerStream, Batches } from '@slipway/http'
import { type CallingUser, freezeCaller } from '../callers/calling-user.ts'
import { recordFilter } from '../catalog/record-id.ts'
import type { Dependencies } from '../dependencies.ts'
import type { Call } from '../handler.ts'
import { listRequests } from './pending.sql.ts'
import { requireVisible } from './visible-deployment.ts'

/** Ended requests are stored for a long time, so the list has only the newest. */
const NEWEST_ENDED = 1_000

export async function listPending(database: Database, { caller, query }: Call<'listPending'>): Promise<Answer> {
  const tenant = recordFilter('tenant', query.tenant_id)
  if (tenant === null) return { status: 200, body: [] }
  const wanted = { tenant_id: caller.tenant_id, of_tenant: tenant.id, of_tenant_number: tenant.number }
  const limit = query.status !== undefined && isFinalPendingState(query.status) ? NEWEST_ENDED : null
  const statuses = query.status === undefined ? (['pending', 'processing'] as const) : [query.status]
  const items = await database.snapshot((tx) =>
    pendingItems(tx, freezeCaller(caller), listRequests.all(tx, { ...wanted, statuses, limit })),
  )
  const { waiting_for } = query
  const matching = waiting_for === undefined ? items : items.filter((item) => item.waiting_for === waiting_for)
  return answerStream(200, new Batches(batchesOf(matching)))
}

export async function getPending(dependencies: Reading, { caller, params }: Call<'getPending'>): Promise<Answer> {
  const { id } = await requireVisible(dependencies.database, caller, 'pending request', params['id'] ?? '')
  return { status: 200, body: await readItem(dependencies, caller, id) }
}

type Reading = Pick<Dependencies, 'database' | 'keys'>

/** A pending request as this caller sees it. */
export const readItem = ({ database, keys }: Reading, caller: CallingUser, id: string) =>
  database.snapshot((tx) => listItem({ db: tx, keys, viewer: freezeCaller(caller) }, 'pending', id))

/** Without batches, thousands of items would keep other requests from the event loop. */
const BATCH = 500

function* batchesOf<T>(items: readonly T[]): Generator<T[]> {
  for (let first = 0; first < items.length; first += BATCH) yield items.slice(first, first + BATCH)
}
