import type { CommandBody } from '@slipway/contracts'
import { array, int4, jsonb, nullable, pendingStatus, rowSet, statement, text, uuid } from '@slipway/database'

export const claimRequests = statement({
  name: 'dispatcher.pending-requests.claim',
  parameters: { ids: array(uuid), from: array(pendingStatus) },
  row: {
    id: uuid,
    tenant_id: nullable(uuid),
    request_id: nullable(text),
    traceparent: nullable(text),
    retry_count: int4,
    priority: int4,
    /** As it was sent, with the original priority. */
    command: jsonb<CommandBody<'deployment.start'>>(),
  },
  sql: `SELECT id, tenant_id, request_id, traceparent, retry_count, priority, command FROM pending_requests
    WHERE id = ANY (:ids::uuid[]) AND status = ANY (:from::pending_status[])
    ORDER BY id FOR UPDATE SKIP LOCKED`,
})

/** SQL: changes the status of requests, which then need no targets any more. */
const leaving = (update: string) =>
  `WITH left_queue AS (${update} RETURNING p.id), dropped AS (
      DELETE FROM pending_targets n USING left_queue WHERE n.request_id = left_queue.id)
    SELECT id FROM left_queue`

const left = { id: uuid }

export const dispatchRequests = statement({
  name: 'dispatcher.pending-requests.dispatch',
  parameters: { dispatched: rowSet({ id: uuid, instance_id: uuid }), from: array(pendingStatus) },
  row: left,
  sql: leaving(`UPDATE pending_requests p
      SET status = 'dispatched', deployment_id = p.id, dispatched_at = now(),
          dispatched_to_instance_id = d.instance_id, error_message = NULL
     FROM :dispatched AS d
    WHERE p.id = d.id AND p.status = ANY (:from::pending_status[])`),
})

export const failRequests = statement({
  name: 'dispatcher.pending-requests.fail',
  parameters: { failed: rowSet({ id: uuid, reason: text }), from: array(pendingStatus) },
  row: left,
  sql: leaving(`UPDATE pending_requests p SET status = 'failed', error_message = f.reason
     FROM :failed AS f
    WHERE p.id = f.id AND p.status = ANY (:from::pending_status[])`),
})

/** Ends requests that start no more. */
export const endRequests = statement({
  name: 'dispatcher.pending-requests.end',
  parameters: {
    ids: array(uuid),
    statuses: array(pendingStatus),
    reasons: array(text),
    causes: array(nullable(text)),
    from: array(pendingStatus),
  },
  row: left,
  sql: leaving(`UPDATE pending_requests p SET status = e.status, error_message = e.reason, cancelled_because = e.cause
     FROM unnest(:ids::uuid[], :statuses::pending_status[], :reasons::text[], :causes::text[]) AS e (id, status, reason, cause)
    WHERE p.id = e.id AND p.status = ANY (:from::pending_status[])`),
})

export const cancelRequest = statement({
  name: 'dispatcher.pending-requests.cancel',
  parameters: { id: uuid, from: array(pendingStatus) },
  row: left,
  sql: leaving(
    `UPDATE pending_requests p SET status = 'cancelled' WHERE id = :id AND status = ANY (:from::pending_status[])`,
  ),
})

/**
 * Cancels requests that newer ones replace, unless they have left the queue. Skips those that are being cancelled. `queued_at`: null for
 * a parked request, which has no place to hand over.
 */
export const supersedeRequests = statement({
  name: 'dispatcher.pending-requests.supersede',
  parameters: { ids: array(uuid), superseded: rowSet({ id: uuid, newer_id: uuid, message: text }) },
  row: { id: uuid, newer_id: uuid, tenant_id: nullable(uuid), queued_at: nullable(text) },
  sql: `WITH waiting AS (
      SELECT p.id FROM pending_requests p WHERE p.id = ANY (:ids) AND p.status = 'pending' ORDER BY p.id FOR UPDATE SKIP LOCKED
    ), left_queue AS (
      UPDATE pending_requests p SET status = 'cancelled', superseded_by = s.newer_id, error_message = s.message
        FROM :superseded AS s JOIN waiting USING (id)
       WHERE p.id = s.id RETURNING p.id, s.newer_id, p.tenant_id, CASE WHEN p.parked_for IS NULL THEN p.queued_at::text END AS queued_at
    ), dropped AS (DELETE FROM pending_targets n USING left_queue WHERE n.request_id = left_queue.id)
    SELECT * FROM left_queue`,
})

/** Returns a request to the queue, or ends it. */
export const retryRequest = statement({
  name: 'dispatcher.pending-requests.retry',
  parameters: { id: uuid, reason: text, to: pendingStatus, from: array(pendingStatus) },
  sql: `WITH retried AS (
      UPDATE pending_requests
         SET status = :to, retry_count = retry_count + 1, last_retry_at = now(), error_message = :reason
       WHERE id = :id AND status = ANY (:from::pending_status[]) RETURNING id, status)
    DELETE FROM pending_targets n USING retried WHERE n.request_id = retried.id AND retried.status <> 'pending'`,
})
