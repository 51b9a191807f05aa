import { array, type Database, int4, int8, nullable, pendingStatus, statement, uuid } from '@slipway/database'
import { listItem, ownSql, PENDING, pendingItems } from '@slipway/database/read-models'
import { isFinalPendingState } from '@slipway/domain'
import type { Answer } from '@slipway/http'
import { answerStream, Batches } from '@slipway/http'
import { type CallingUser, pendingViewer } from '../callers/calling-user.ts'
import type { Dependencies } from '../dependencies.ts'
import type { Call } from '../handler.ts'
import { recordFilter } from '../records/filters.ts'
import { readPendingPlan } from './pending-plan.ts'
import { requireVisible } from './visible-deployment.ts'

/**
 * Pending requests in the order of their start, then the others. A position counts all pending requests, also those that the
 * viewer cannot see.
 */
const listRequests = statement({
  name: 'gateway.pending.list',
  parameters: {
    tenant_id: nullable(uuid),
    of_tenant: nullable(uuid),
    of_tenant_number: nullable(int4),
    statuses: array(pendingStatus),
    limit: nullable(int8),
  },
  row: PENDING.row,
  sql: `SELECT ${PENDING.columns}
      FROM (SELECT q.*, w.position, w.pool_position
              FROM pending_requests q LEFT JOIN waiting_places() w ON w.id = q.id) r
     WHERE r.status = ANY (:statuses) AND ${ownSql('r')} AND (:of_tenant::uuid IS NULL OR r.tenant_id = :of_tenant)
       AND (:of_tenant_number::int4 IS NULL OR r.tenant_id = (SELECT id FROM tenants WHERE number = :of_tenant_number))
     ORDER BY r.position NULLS LAST, r.queued_at DESC, r.id DESC LIMIT :limit`,
})

/** Ended requests are stored for a long time, so the list has only the newest. */
const NEWEST_ENDED = 1_000

export async function listPending(database: Database, { caller, query }: Call<'listPending'>): Promise<Answer> {
  const tenant = recordFilter('tenant', query.tenant_id)
  if (tenant === null) return { status: 200, body: [] }
  const scope = { tenant_id: caller.tenant_id, of_tenant: tenant.id, of_tenant_number: tenant.number }
  const limit = query.status !== undefined && isFinalPendingState(query.status) ? NEWEST_ENDED : null
  const statuses = query.status === undefined ? (['pending', 'processing'] as const) : [query.status]
  const items = await database.snapshot((tx) =>
    pendingItems(tx, pendingViewer(caller), listRequests.all(tx, { ...scope, statuses, limit })),
  )
  const { waiting_for } = query
  const matching = waiting_for === undefined ? items : items.filter((item) => item.waiting_for === waiting_for)
  return answerStream(200, new Batches(batchesOf(matching)))
}

export async function getPending(dependencies: Reading, { caller, params }: Call<'getPending'>): Promise<Answer> {
  const { id } = await requireVisible(dependencies.database, caller, 'pending request', params['id'] ?? '')
  const [item, plan] = await Promise.all([
    readItem(dependencies, caller, id),
    readPendingPlan(dependencies.database, caller, id),
  ])
  return answerStream(200, { ...item, ...plan })
}

type Reading = Pick<Dependencies, 'database' | 'keys'>

/** A pending request as this caller sees it. */
export const readItem = ({ database, keys }: Reading, caller: CallingUser, id: string) =>
  database.snapshot((tx) => listItem({ db: tx, keys, viewer: pendingViewer(caller) }, 'pending', id))

/** Without batches, thousands of items would keep other requests from the event loop. */
const BATCH = 500

function* batchesOf<T>(items: readonly T[]): Generator<T[]> {
  for (let first = 0; first < items.length; first += BATCH) yield items.slice(first, first + BATCH)
}
