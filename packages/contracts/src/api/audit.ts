import { Type } from '@sinclair/typebox'
import { Count, describe, Moment, Nullable, NullableRef, NullableText, Ref, Strict, Text } from '../schema.ts'
import { STORY } from '../story.ts'

/** The kind of record in the name of an audit action. `auth` actions are about a user. */
export function auditResourceType(action: string): string {
  const [kind = ''] = action.split('.')
  return kind === 'auth' ? 'user' : kind
}

export const AuditRecord = Strict({
  id: Ref('auditRecord', 'UUID of the record'),
  at: Moment('When the change or the refusal was committed'),
  actor_id: NullableRef('user', 'The user who called; null in a call without authentication'),
  actor_name: NullableText('Name of that user', 'ada'),
  actor_ip: NullableText('Client address of the call; null: Slipway itself did it', '203.0.113.7'),
  api_key_id: NullableRef('apiKey', 'The API key that authenticated the call; null: none did'),
  api_key_name: NullableText('Name of that key. It stays when the key is deleted', 'pipeline of the storefront'),
  action: Text('What was done or refused: kind of record and verb', 'deployment.create'),
  resource_type: Text('The kind of record', 'deployment'),
  resource_id: NullableText('The record, by id; null: none, for example in a refused create', STORY.deployment),
  tenant_id: NullableRef('tenant', 'The tenant of the record; null: none', null),
  request_id: NullableText('The `X-Request-Id` of the call. All log lines of the call have it', STORY.request),
  details: describe(
    Type.Record(Type.String(), Type.Unknown()),
    'What changed. For a refusal: `outcome` (`refused`, or `failed` after an error of the server), `status` and `code`',
    { source_name: 'storefront', version: '1.1.0' },
  ),
})

export const AuditChainPart = Strict({
  after: Count('The position before the first link that was checked', 0),
  links: Count('How many links were checked', 5_000),
  next: describe(Nullable(Type.Integer()), 'The `after` of the next part; null at the end of the chain', 5_000),
  head: Strict(
    {
      position: Count('Position of the last link', 12_345),
      hash: Text('Its hash, in hex', STORY.content),
    },
    { description: 'The last link. Compare it with the head that each gateway publishes in its log and its metrics' },
  ),
  dropped: Count('How many links retention has dropped from the beginning', 0),
  broken: Count('How many problems were found; 0: this part is whole', 0),
  findings: describe(
    Type.Array(
      Strict({
        position: describe(
          Nullable(Type.Integer()),
          'The link that has the problem; null: a record without link',
          4_711,
        ),
        record_number: describe(Nullable(Type.Integer()), 'Number of the audit record; null: it is gone', 4_711),
        problem: Text('What is wrong, for people', 'the record was changed after it was written'),
      }),
    ),
    'The first problems, at most 20',
    [],
  ),
})
