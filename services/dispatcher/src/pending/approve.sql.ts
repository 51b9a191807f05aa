import { int8, nullable, pendingStatus, statement, text, uuid } from '@slipway/database'

export const lockForApproval = statement({
  name: 'dispatcher.pending-requests.lock-for-approval',
  parameters: { id: uuid },
  row: { tenant_id: nullable(uuid), status: pendingStatus, plan_hash: nullable(text), author_id: nullable(uuid) },
  sql: 'SELECT tenant_id, status, plan_hash, author_id FROM pending_requests WHERE id = :id FOR UPDATE',
})

/** A second approval of the same user changes nothing. Returns whether it is the first. */
export const addApproval = statement({
  name: 'dispatcher.approvals.add',
  parameters: { request_id: uuid, user_id: uuid, user_name: text, comment: nullable(text) },
  row: { added: int8 },
  sql: `WITH added AS (
      INSERT INTO approvals (request_id, user_id, user_name, comment) VALUES (:request_id, :user_id, :user_name, :comment)
      ON CONFLICT DO NOTHING RETURNING 1)
    SELECT count(*) AS added FROM added`,
})
