import { type Database, enqueue, eventMessage, type Queryable } from '@slipway/database'
import type { Wait } from '@slipway/engine'
import { lockAdmission } from '../locks/admission.sql.ts'
import { findSelecting, reviewEnvironment, reviewPromotions, reviewRequests, setPlaces } from './places.sql.ts'
import { renewSubjects } from './queue.sql.ts'

/**
 * Stores where requests wait by these decisions: in the queue, or parked until a moment or a change. `isNew`: they were stored in this
 * transaction, which tells of them.
 */
export async function placeRequests(tx: Queryable, waits: readonly Wait[], { isNew = false } = {}): Promise<void> {
  if (waits.length === 0) return
  const placed = await setPlaces.all(tx, {
    places: waits.map(({ request, isParked, blockers, review_at }) => ({
      id: request.id,
      parked_for: isParked ? (blockers[0]?.code ?? null) : null,
      review_at,
      needs_approval: blockers.some(({ code }) => code === 'approval'),
    })),
  })
  await enqueue(
    tx,
    placed.flatMap(({ id, tenant_id, asks_first, waits_otherwise }) => {
      const body = { pending_request_id: id, tenant_id, status: 'pending' } as const
      return [
        ...(asks_first ? [eventMessage('pending.approval_needed', body)] : []),
        ...(waits_otherwise && !isNew ? [eventMessage('pending.updated', body)] : []),
      ]
    }),
  )
}

// Under the lock of admission: a round that has read the facts of before must not park a request after it was made due.

/** The rules of an environment are others. */
export const reviewRequestsOf = (database: Database, environment_id: string): Promise<number> =>
  review(database, (tx) => reviewEnvironment.run(tx, { environment_id }))

/** Freezes are others. */
export const reviewPromotionsOfAll = (database: Database): Promise<number> =>
  review(database, (tx) => reviewPromotions.run(tx))

/** A target has another tenant or environment: other rules count for requests that select it. */
export async function reviewRequestsWith(database: Database, target_id: string): Promise<number> {
  // Rounds that have read the former place end first; later ones read the present place.
  await review(database, async () => 0)
  const ids = (await findSelecting.all(database, { target_id })).map(({ id }) => id)
  if (ids.length === 0) return 0
  return review(database, async (tx) => {
    await renewSubjects.all(tx, { ids })
    return reviewRequests.run(tx, { ids })
  })
}

const review = (database: Database, update: (tx: Queryable) => Promise<number>): Promise<number> =>
  database.transaction(async (tx) => {
    await lockAdmission.run(tx, { command_ids: [] })
    return update(tx)
  })
