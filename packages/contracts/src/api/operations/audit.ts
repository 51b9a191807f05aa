import { Type } from '@sinclair/typebox'
import { literals, Strict, Timestamp, Uuid, withOptions } from '../../schema.ts'
import { AuditRecord, auditResourceType } from '../audit.ts'
import { Page, PageQuery } from '../common.ts'
import { type Operation, op } from './operation.ts'

/** Actions that do not come through the API: instances join at the executor-bridge. */
const BEYOND_THE_API = ['instance.join']

/** The audit log. Its actions are those of all other operations, and those that come another way. */
export function auditOperations(others: Record<string, Operation>) {
  const actions = [...new Set([...Object.values(others).flatMap(({ audit }) => audit ?? []), ...BEYOND_THE_API])].sort()
  const resourceTypes = [...new Set(actions.map(auditResourceType))].sort()
  return {
    listAuditLogs: op({
      method: 'GET',
      path: '/audit/logs',
      summary: 'What was changed and what was refused, by whom; newest first',
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
  } as const
}
