import type { RowOf } from '@slipway/database'
import { insufficientPermissions, isUuid, notFound, Problem } from '@slipway/domain'
import { hashToken, uuidv7 } from '@slipway/runtime'
import type { Dependencies } from '../dependencies.ts'
import type { HandlersOf } from '../handler.ts'
import { makeApiKey, shownPrefix } from './api-key.ts'
import { deleteKey, findKeys, insertKey } from './api-keys.sql.ts'
import { announceRevocation } from './sessions.ts'

type KeyRow = RowOf<typeof insertKey>

/** The API keys of the caller. Other users cannot manage them, not even administrators: these suspend the user instead. */
export function apiKeyHandlers({
  database,
  outboxChanged,
}: Pick<Dependencies, 'database' | 'outboxChanged'>): HandlersOf<'createApiKey' | 'listApiKeys' | 'deleteApiKey'> {
  return {
    createApiKey: {
      async handle({ caller, body, audit }) {
        const scopes = [...new Set(body.scopes ?? [])].sort()
        const lacking = scopes.find((scope) => !caller.permissions.includes(scope))
        if (lacking !== undefined) throw insufficientPermissions(lacking)
        const key = makeApiKey()
        const row = await database.transaction(async (tx) => {
          const made = await insertKey.one(tx, {
            id: uuidv7(),
            user_id: caller.user_id,
            name: body.name,
            description: body.description ?? null,
            key_prefix: shownPrefix(key),
            key_hash: hashToken(key),
            scopes,
            days: body.expires_in_days ?? null,
          })
          const details = { name: made.name, scopes, expires_at: made.expires_at?.toISOString() ?? null }
          await audit.record(tx, { resource_id: made.id, tenant_id: caller.tenant_id, details })
          return made
        })
        const warning = 'Store the key now: it is not shown again'
        return { status: 201, body: { api_key: keyRecord(row), full_key: key, warning } }
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

const keyRecord = (row: KeyRow) => ({
  id: row.id,
  name: row.name,
  description: row.description,
  key_prefix: row.key_prefix,
  scopes: row.scopes,
  last_used_at: row.last_used_at?.toISOString() ?? null,
  last_used_ip: row.last_used_ip,
  created_at: row.created_at.toISOString(),
  expires_at: row.expires_at?.toISOString() ?? null,
})
