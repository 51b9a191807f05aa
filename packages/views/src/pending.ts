import { jsonObject } from './json.ts'

const plainTime = (column: string) => `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS')`

/** A request that waits or has ended, from `pending_requests` as `r` with its `position`; what is not set is left out. */
export const PENDING_REQUEST = `json_strip_nulls(${jsonObject({
  id: 'r.id',
  tenant_id: 'r.tenant_id',
  tenant_name: 'r.tenant_name',
  environment_id: 'r.environment_id',
  environment_name: 'r.environment_name',
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
})})`
