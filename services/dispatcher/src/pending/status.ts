import { enqueue, eventMessage, type Queryable, type RowOf } from '@slipway/database'
import { pendingSourcesOf } from '@slipway/domain'
import type { End, Slot } from '@slipway/engine'
import { claimRequests, dispatchRequests, endRequests, failRequests, retryRequest } from './status.sql.ts'

/** A request that a dispatch transaction has locked. */
export type ClaimedRequest = RowOf<typeof claimRequests>

/** After so many failed dispatches a request fails. */
const MAX_RETRIES = 5

/**
 * The status `processing` is never stored. It would last for one transaction only, so the row lock stands for it. Otherwise
 * each request would be written twice, with its plan.
 */
const IN_HAND = pendingSourcesOf('processing')

/** Locks requests in the given order. Skips a request that is being cancelled. */
export async function claim(tx: Queryable, ids: readonly string[]): Promise<ClaimedRequest[]> {
  const rows = await claimRequests.all(tx, { ids, from: IN_HAND })
  const claimed = new Map(rows.map((row) => [row.id, row]))
  return ids.flatMap((id) => claimed.get(id) ?? [])
}

export async function markDispatched(
  tx: Queryable,
  dispatched: readonly { request: ClaimedRequest; slot: Slot }[],
): Promise<void> {
  if (dispatched.length === 0) return
  const requests = dispatched.map(({ request }) => request)
  await Promise.all([
    dispatchRequests.all(tx, {
      dispatched: dispatched.map(({ request, slot }) => ({ id: request.id, instance_id: slot.instance_id })),
      from: IN_HAND,
    }),
    announce(tx, requests, 'dispatched'),
  ])
}

/** Ends requests with the reason, because records of their plans are gone. */
export async function markFailed(
  tx: Queryable,
  failed: readonly { request: ClaimedRequest; reason: string }[],
): Promise<void> {
  if (failed.length === 0) return
  await failRequests.all(tx, {
    failed: failed.map(({ request, reason }) => ({ id: request.id, reason })),
    from: IN_HAND,
  })
  await announce(
    tx,
    failed.map(({ request }) => request),
    'failed',
  )
}

/** Ends requests that start no more. Returns how many: one that is being cancelled is left alone. */
export async function markEnded(tx: Queryable, ends: readonly End[]): Promise<number> {
  if (ends.length === 0) return 0
  const claimed = await claim(
    tx,
    ends.map(({ request }) => request.id),
  )
  const ended = claimed.flatMap((request) => {
    const end = ends.find((one) => one.request.id === request.id)
    return end === undefined ? [] : [{ request, end }]
  })
  await endRequests.all(tx, {
    ids: ended.map(({ request }) => request.id),
    statuses: ended.map(({ end }) => end.status),
    reasons: ended.map(({ end }) => end.message),
    causes: ended.map(({ end }) => end.because),
    from: IN_HAND,
  })
  for (const status of ['cancelled', 'failed'] as const) {
    await announce(
      tx,
      ended.flatMap(({ request, end }) => (end.status === status ? [request] : [])),
      status,
    )
  }
  return ended.length
}

/** Returns a request to the queue after a failed dispatch. After the last attempt the request fails. */
export async function markRetry(tx: Queryable, request: ClaimedRequest, reason: string): Promise<void> {
  const status = request.retry_count + 1 >= MAX_RETRIES ? 'failed' : 'pending'
  await retryRequest.run(tx, { id: request.id, reason, to: status, from: IN_HAND })
  await announce(tx, [request], status)
}

async function announce(
  tx: Queryable,
  requests: readonly ClaimedRequest[],
  status: 'dispatched' | 'failed' | 'cancelled' | 'pending',
): Promise<void> {
  await enqueue(
    tx,
    requests.map(({ id, tenant_id, request_id, traceparent }) => ({
      ...eventMessage('pending.updated', { pending_request_id: id, tenant_id, status }),
      request_id,
      traceparent,
    })),
  )
}
