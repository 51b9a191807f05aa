import { Type } from '@sinclair/typebox'
import { describe, literals, Moment, Ref, Strict } from '../../schema.ts'
import { MOMENTS, STORY } from '../../story.ts'
import { AuditChainPart, AuditRecord, auditResourceType } from '../audit.ts'
import { Page, PageQuery } from '../common.ts'
import { type Operation, op } from './operation.ts'

/**
 * Actions that no operation names: instances join at the executor-bridge, the dispatcher replaces requests, and a preview leaves a
 * record only if it is given values.
 */
const OTHER_ACTIONS = ['deployment.preview', 'instance.join', 'pending_request.supersede']

/** The filter by action needs the audit actions of all other operations. */
export function auditOperations(others: Record<string, Operation>) {
  const actions = [...new Set([...Object.values(others).flatMap(({ audit }) => audit ?? []), ...OTHER_ACTIONS])].sort()
  const resourceTypes = [...new Set(actions.map(auditResourceType))].sort()
  return {
    listAuditLogs: op({
      method: 'GET',
      path: '/audit/logs',
      summary: 'List audit records of changes and refusals, newest first',
      description:
        'Lists who changed what, with which API key, and which changes and logins were refused, newest first. Reads and calls that got 429 leave no record. A preview leaves one if the request gives values, with their names. A user of a tenant sees the records of the tenant only. Filters are combined with "and".',
      tag: 'audit',
      access: 'audit:read',
      query: Strict({
        ...PageQuery,
        action: Type.Optional(describe(literals(actions), 'Only records of this action', 'deployment.create')),
        exclude_action: Type.Optional(
          Type.String({
            pattern: '^[a-z_]+[.][a-z0-9_]+(,[a-z_]+[.][a-z0-9_]+){0,49}$',
            description: 'No records of these actions, at most 50, separated by commas',
            examples: ['auth.refresh,auth.login'],
          }),
        ),
        resource_type: Type.Optional(
          describe(literals(resourceTypes), 'Only records about this kind of record', 'deployment'),
        ),
        resource_id: Type.Optional(
          describe(Type.String({ maxLength: 128 }), 'Only records about the record with this id', STORY.deployment),
        ),
        actor_id: Type.Optional(Ref('user', 'Only calls of this user')),
        api_key_id: Type.Optional(Ref('apiKey', 'Only calls with this API key, which may be deleted')),
        from: Type.Optional(Moment('From this moment on')),
        to: Type.Optional(Moment('Before this moment', MOMENTS.later)),
      }),
      responses: { 200: Page(AuditRecord) },
    }),
    checkAuditChain: op({
      method: 'GET',
      path: '/audit/chain',
      summary:
        'Check a part of the audit chain: up to 5,000 links after a position, or the newest ones. Only for users without tenant',
      description:
        'Verifies the hashes of up to 5,000 links after a position, or of the newest ones. Only users without tenant may call it (403). A changed or removed record is in `findings`.',
      tag: 'audit',
      access: 'audit:read',
      query: Strict({
        after: Type.Optional(
          Type.String({
            pattern: '^[0-9]{1,15}$',
            description: 'A position. Begin with 0 and continue with `next` to check the whole chain',
            examples: ['0'],
          }),
        ),
      }),
      responses: { 200: AuditChainPart },
    }),
  } as const
}
