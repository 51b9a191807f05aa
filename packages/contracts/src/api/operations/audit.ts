import { Type } from '@sinclair/typebox'
import { literals, Strict, Timestamp, Uuid, withOptions } from '../../schema.ts'
import { AuditChainPart, AuditRecord, auditResourceType } from '../audit.ts'
import { Page, PageQuery } from '../common.ts'
import { type Operation, op } from './operation.ts'

/** Actions without an operation of the API: instances join at the executor-bridge, the dispatcher replaces requests. */
const OTHER_ACTIONS = ['instance.join', 'pending_request.supersede']

/** The filter by action needs the audit actions of all other operations. */
export function auditOperations(others: Record<string, Operation>) {
  const actions = [...new Set([...Object.values(others).flatMap(({ audit }) => audit ?? []), ...OTHER_ACTIONS])].sort()
  const resourceTypes = [...new Set(actions.map(auditResourceType))].sort()
  return {
    listAuditLogs: op({
      method: 'GET',
      path: '/audit/logs',
      summary: 'List audit records of changes and refusals, newest first',
      tag: 'audit',
      access: 'audit:read',
      query: Strict({
        ...PageQuery,
        action: Type.Optional(literals(actions)),
        resource_type: Type.Optional(literals(resourceTypes)),
        resource_id: Type.Optional(Type.String({ maxLength: 128 })),
        actor_id: Type.Optional(Uuid),
        from: Type.Optional(withOptions(Timestamp, { description: 'From this moment on' })),
        to: Type.Optional(withOptions(Timestamp, { description: 'Before this moment' })),
      }),
      responses: { 200: Page(AuditRecord) },
    }),
    checkAuditChain: op({
      method: 'GET',
      path: '/audit/chain',
      summary:
        'Check a part of the audit chain: up to 5,000 links after a position, or the newest ones. Only for users without tenant',
      tag: 'audit',
      access: 'audit:read',
      query: Strict({
        after: Type.Optional(
          Type.String({
            pattern: '^[0-9]{1,15}$',
            description: 'A position. Begin with 0 and continue with `next` to check the whole chain',
          }),
        ),
      }),
      responses: { 200: AuditChainPart },
    }),
  } as const
}
