import { Type } from '@sinclair/typebox'
import { Nullable, Strict, Timestamp, Uuid, withOptions } from '../schema.ts'

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

export const AuditChainPart = Strict({
  after: Type.Integer({ description: 'The position before the first link that was checked' }),
  links: Type.Integer({ description: 'How many links were checked' }),
  next: withOptions(Nullable(Type.Integer()), {
    description: 'The `after` of the next part; null at the end of the chain',
  }),
  head: withOptions(Strict({ position: Type.Integer(), hash: Type.String() }), {
    description: 'The last link. Compare it with the head that each gateway publishes in its log and its metrics',
  }),
  dropped: Type.Integer({ description: 'How many links retention has dropped from the beginning' }),
  broken: Type.Integer({ description: 'How many problems were found; 0: this part is whole' }),
  findings: Type.Array(
    Strict({
      position: Nullable(Type.Integer()),
      record_number: Nullable(Type.Integer()),
      problem: Type.String(),
    }),
    { description: 'The first problems, at most 20' },
  ),
})
