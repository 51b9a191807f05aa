import { Type } from '@sinclair/typebox'
import { Nullable, Strict, Timestamp, Uuid } from '../schema.ts'

/** The kind of record in the name of an audit action. `auth` actions are about a user. */
export function auditResourceType(action: string): string {
  const [kind = ''] = action.split('.')
  return kind === 'auth' ? 'user' : kind
}

export const AuditRecord = Strict({
  id: Uuid,
  at: Timestamp,
  /** Null in a call without authentication. */
  actor_id: Nullable(Uuid),
  actor_name: Nullable(Type.String()),
  actor_ip: Nullable(Type.String()),
  action: Type.String(),
  resource_type: Type.String(),
  resource_id: Nullable(Type.String()),
  tenant_id: Nullable(Uuid),
  request_id: Nullable(Type.String()),
  /** What changed. For a refusal: `outcome` (`refused`, or `failed` after an error of the server), `status` and `code`. */
  details: Type.Record(Type.String(), Type.Unknown()),
})
