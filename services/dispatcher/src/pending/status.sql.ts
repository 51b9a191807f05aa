import type { CommandBody } from '@slipway/contracts'
import { array, int4, jsonb, nullable, pendingStatus, statement, text, uuid } from '@slipway/database'

export const claimRequests = statement({
  name: 'dispatcher.pending_requests.claim',
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

export const dispatchRequests = statement({
  name: 'dispatcher.pending_requests.dispatch',
  parameters: {
    ids: array(uuid),
    instance_ids: array(uuid),
    from: array(pendingStatus),
  },
  sql: `UPDATE pending_requests p
      SET status = 'dispatched', deployment_id = p.id, dispatched_at = now(),
          dispatched_to_instance_id = d.instance_id, error_message = NULL
     FROM unnest(:ids::uuid[], :instance_ids::uuid[]) AS d (id, instance_id)
    WHERE p.id = d.id AND p.status = ANY (:from::pending_status[])`,
})

export const failRequests = statement({
  name: 'dispatcher.pending_requests.fail',
  parameters: { ids: array(uuid), reasons: array(text), from: array(pendingStatus) },
  sql: `UPDATE pending_requests p SET status = 'failed', error_message = f.reason
     FROM unnest(:ids::uuid[], :reasons::text[]) AS f (id, reason)
    WHERE p.id = f.id AND p.status = ANY (:from::pending_status[])`,
})

export const retryRequest = statement({
  name: 'dispatcher.pending_requests.retry',
  parameters: { id: uuid, reason: text, to: pendingStatus, from: array(pendingStatus) },
  sql: `UPDATE pending_requests
      SET status = :to, retry_count = retry_count + 1, last_retry_at = now(), error_message = :reason
    WHERE id = :id AND status = ANY (:from::pending_status[])`,
})
