import type { CommandBody } from '@slipway/contracts'
import { enqueue, eventMessage, type Queryable } from '@slipway/database'
import { pendingSourcesOf } from '@slipway/domain'
import type { Slot } from '../leases/allocate.ts'

/** A request that the drain has in hand. */
export interface ClaimedRequest {
  id: string
  tenant_id: string | null
  request_id: string | null
  traceparent: string | null
  retry_count: number
  /** The command has the priority that it came with. */
  priority: number
  command: CommandBody<'deployment.start'>
}

/** After so many dispatches that went wrong a request is given up. */
const MAX_RETRIES = 5

/**
 * `processing` lasts as long as a transaction of the drain, so nobody would see it: the row's lock stands for it, and what
 * leaves it is guarded by what may enter it. That saves writing each request, with its plan, twice.
 */
const IN_HAND = pendingSourcesOf('processing')

/** Takes requests in hand, in the order given. One that is being cancelled is left. */
export async function claim(tx: Queryable, ids: readonly string[]): Promise<ClaimedRequest[]> {
  const { rows } = await tx.query<ClaimedRequest>(
    `SELECT id, tenant_id, request_id, traceparent, retry_count, priority, command FROM pending_requests
      WHERE id = ANY($1::uuid[]) AND status = ANY($2::pending_status[])
      ORDER BY id FOR UPDATE SKIP LOCKED`,
    [ids, IN_HAND],
  )
  const claimed = new Map(rows.map((row) => [row.id, row]))
  return ids.flatMap((id) => claimed.get(id) ?? [])
}

export async function markDispatched(
  tx: Queryable,
  dispatched: readonly { request: ClaimedRequest; deployment_id: string; slot: Slot }[],
): Promise<void> {
  const requests = dispatched.map(({ request }) => request)
  await Promise.all([
    tx.query(
      `UPDATE pending_requests p
          SET status = 'dispatched', deployment_id = d.deployment_id, dispatched_at = now(),
              dispatched_to_instance_id = d.instance_id, error_message = NULL
         FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) AS d (id, deployment_id, instance_id)
        WHERE p.id = d.id AND p.status = ANY($4::pending_status[])`,
      [
        requests.map(({ id }) => id),
        dispatched.map(({ deployment_id }) => deployment_id),
        dispatched.map(({ slot }) => slot.instance_id),
        IN_HAND,
      ],
    ),
    announce(tx, requests, 'dispatched'),
  ])
}

/** What requests were planned with is gone: they end, with the reason. */
export async function markFailed(
  tx: Queryable,
  failed: readonly { request: ClaimedRequest; reason: string }[],
): Promise<void> {
  if (failed.length === 0) return
  await tx.query(
    `UPDATE pending_requests p SET status = 'failed', error_message = f.reason
       FROM unnest($1::uuid[], $2::text[]) AS f (id, reason)
      WHERE p.id = f.id AND p.status = ANY($3::pending_status[])`,
    [failed.map(({ request }) => request.id), failed.map(({ reason }) => reason), IN_HAND],
  )
  await announce(
    tx,
    failed.map(({ request }) => request),
    'failed',
  )
}

/** The dispatch went wrong: back into the queue for another try, or given up after the last. */
export async function markRetry(tx: Queryable, request: ClaimedRequest, reason: string): Promise<void> {
  const status = request.retry_count + 1 >= MAX_RETRIES ? 'failed' : 'pending'
  await tx.query(
    `UPDATE pending_requests
        SET status = $3, retry_count = retry_count + 1, last_retry_at = now(), error_message = $2
      WHERE id = $1 AND status = ANY($4::pending_status[])`,
    [request.id, reason, status, IN_HAND],
  )
  await announce(tx, [request], status)
}

async function announce(
  tx: Queryable,
  requests: readonly ClaimedRequest[],
  status: 'dispatched' | 'failed' | 'pending',
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
