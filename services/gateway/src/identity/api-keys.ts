import type { CreateApiKey, Static } from '@slipway/contracts'
import type { Queryable, RowOf } from '@slipway/database'
import { isUuid, notFound, Problem, requireMay, type Scope } from '@slipway/domain'
import { hashToken, uuidv7 } from '@slipway/runtime'
import { requirePerson } from '../callers/permission.ts'
import type { Dependencies } from '../dependencies.ts'
import type { HandlersOf } from '../handler.ts'
import { References } from '../records/references.ts'
import { holdScope, resolvedScope, scopeReferences } from '../records/scopes.ts'
import { makeApiKey, shownPrefix } from './api-key.ts'
import { deleteKey, findKeys, insertKey } from './api-keys.sql.ts'
import { holdTokenVersion } from './sessions.sql.ts'
import { announceRevocation } from './sessions.ts'

type KeyRow = RowOf<typeof insertKey>

/**
 * The API keys of the caller. Other users cannot manage those of a person, not even administrators: these suspend the user instead.
 */
export function apiKeyHandlers({
  database,
  outboxChanged,
}: Pick<Dependencies, 'database' | 'outboxChanged'>): HandlersOf<'createApiKey' | 'listApiKeys' | 'deleteApiKey'> {
  return {
    createApiKey: {
      async handle({ caller, body, audit }) {
        for (const scope of body.scopes ?? []) requireMay(caller, scope)
        const references = await References.resolve(database, caller, scopeReferences(body))
        const { row, full_key } = await database.transaction(async (tx) => {
          // A key must not outlive what ends all credentials at the same moment, such as the first login with a provider.
          if ((await holdTokenVersion.first(tx, caller)) === null) {
            throw new Problem('INVALID_TOKEN', 'This session has ended: log in again')
          }
          const made = await addKey(tx, caller.user_id, body, resolvedScope(body, references))
          await audit.record(tx, {
            resource_id: made.row.id,
            tenant_id: caller.tenant_id,
            details: keyDetails(made.row),
          })
          return made
        })
        return { status: 201, body: newKeyRecord(row, full_key) }
      },
    },

    listApiKeys: {
      async handle({ caller }) {
        const rows = await findKeys.all(database, caller)
        return { status: 200, body: { api_keys: rows.map(keyRecord) } }
      },
    },

    deleteApiKey: {
      async handle({ caller, params, audit }) {
        const id = params['id'] ?? ''
        if (!isUuid(id)) throw notFound('The API key')
        if (caller.credential.kind === 'api_key' && caller.credential.id !== id.toLowerCase()) {
          throw new Problem('FORBIDDEN', 'An API key can revoke only itself: log in to revoke others')
        }
        if (caller.credential.kind === 'session') requirePerson(caller)
        await database.transaction(async (tx) => {
          const deleted = await deleteKey.first(tx, { id, user_id: caller.user_id })
          if (deleted === null) throw notFound('The API key')
          await announceRevocation(tx, caller.user_id)
          await audit.record(tx, { resource_id: id, tenant_id: caller.tenant_id, details: { name: deleted.name } })
        })
        outboxChanged()
        return { status: 200, body: { message: 'The API key is revoked' } }
      },
    },
  }
}

/** Makes a key of a user. Its environments and solutions stay as long as the key names them. */
export async function addKey(
  tx: Queryable,
  user_id: string,
  body: Static<typeof CreateApiKey>,
  scope: Scope,
): Promise<{ row: KeyRow; full_key: string }> {
  await holdScope(tx, [scope])
  const full_key = makeApiKey()
  const row = await insertKey.one(tx, {
    id: uuidv7(),
    user_id,
    name: body.name,
    description: body.description ?? null,
    key_prefix: shownPrefix(full_key),
    key_hash: hashToken(full_key),
    scopes: [...new Set(body.scopes ?? [])].sort(),
    ...scope,
    days: body.expires_in_days ?? null,
  })
  return { row, full_key }
}

/** What the audit record of a new key says. */
export const keyDetails = ({ name, scopes, environment_ids, solution_ids, expires_at }: KeyRow) => ({
  name,
  scopes,
  environment_ids,
  solution_ids,
  expires_at: expires_at?.toISOString() ?? null,
})

export const newKeyRecord = (row: KeyRow, full_key: string) => ({
  api_key: keyRecord(row),
  full_key,
  warning: 'Store the key now: it is not shown again',
})

export const keyRecord = (row: KeyRow) => ({
  id: row.id,
  name: row.name,
  description: row.description,
  key_prefix: row.key_prefix,
  scopes: row.scopes,
  environment_ids: row.environment_ids,
  solution_ids: row.solution_ids,
  last_used_at: row.last_used_at?.toISOString() ?? null,
  last_used_ip: row.last_used_ip,
  created_at: row.created_at.toISOString(),
  expires_at: row.expires_at?.toISOString() ?? null,
})
