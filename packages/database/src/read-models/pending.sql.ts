import type { PendingRequest, Static } from '@slipway/contracts'
import type { InstanceSelector } from '@slipway/domain'
import { statement } from '../sql/statement.ts'
import { array, int8, json, jsonb, nullable, text, uuid } from '../sql/types.ts'
import { isoTime, jsonObject } from './json.ts'

export type PendingItem = Static<typeof PendingRequest>

const plainTime = (column: string) => `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS')`

const REQUEST = jsonObject({
  id: 'r.id',
  tenant_id: 'r.tenant_id',
  tenant_name: 'r.tenant_name',
  environment_id: 'r.environment_id',
  environment_name: 'r.environment_name',
  source_type: 'r.source_type',
  source_id: 'r.source_id',
  source_name: 'r.source_name',
  source_version: 'r.source_version',
  target_count: 'r.target_count',
  targets: 'r.first_targets',
  triggered_by: 'r.triggered_by',
  queued_at: plainTime('r.queued_at'),
  created_at: plainTime('r.created_at'),
  retry_count: 'r.retry_count',
  status: 'r.status',
  priority: 'r.priority',
  position: 'r.position',
  last_retry_at: plainTime('r.last_retry_at'),
  error_message: 'r.error_message',
  deployment_id: 'r.deployment_id',
  dispatched_at: plainTime('r.dispatched_at'),
  dispatched_to_instance_id: 'r.dispatched_to_instance_id',
  cancelled_because: `CASE WHEN r.status = 'cancelled' THEN coalesce(r.cancelled_because,
    CASE WHEN r.superseded_by IS NULL THEN 'user' ELSE 'superseded' END) END`,
  superseded_by: 'r.superseded_by',
  start_at: isoTime('r.start_at'),
  expires_at: isoTime('r.expires_at'),
  plan_hash: 'r.plan_hash',
})

/**
 * SQL: the list items of requests `r` with their `position`, without fields that are null, and what their explanation needs. The
 * positions are null if the request is not pending.
 */
export const PENDING = {
  columns: `json_strip_nulls(${REQUEST}) AS request, r.tenant_id, r.tenant_name, r.position, r.pool_position,
     r.instance_selector AS selector`,
  row: {
    request: json<PendingItem>(),
    tenant_id: nullable(uuid),
    tenant_name: nullable(text),
    position: nullable(int8),
    /** The place among the requests with the same selector. */
    pool_position: nullable(int8),
    selector: nullable(jsonb<InstanceSelector>()),
  },
}

export const findRequests = statement({
  name: 'database.pending.find',
  parameters: { ids: array(uuid) },
  row: PENDING.row,
  sql: `SELECT ${PENDING.columns}
      FROM (SELECT q.*, CASE WHEN q.status = 'pending' THEN waiting_position(q.rank, q.id) END AS position,
                   CASE WHEN q.status = 'pending' THEN waiting_pool_position(q.pool_key, q.rank, q.id) END AS pool_position
              FROM pending_requests q WHERE q.id = ANY (:ids)) r`,
})
