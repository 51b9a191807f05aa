import type { QueryResultRow } from '@slipway/database'
import { insufficientPermissions, isUuid, notFound, Problem } from '@slipway/domain'
import { hashToken, uuidv7 } from '@slipway/runtime'
import type { Dependencies } from '../dependencies.ts'
import type { HandlersOf } from '../http/handler.ts'
import { makeApiKey, shownPrefix } from './api-key.ts'
import { announceRevocation } from './revocation.ts'

interface KeyRow extends QueryResultRow {
  id: string
  name: string
  description: string | null
  key_prefix: string
  scopes: string[]
  last_used_at: Date | null
  last_used_ip: string | null
  created_at: Date
  expires_at: Date | null
}

const COLUMNS = 'id, name, description, key_prefix, scopes, last_used_at, last_used_ip, created_at, expires_at'

/** API keys of the caller. Nobody sees or touches those of others; suspending their user stops them. */
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
          const { rows } = await tx.query<KeyRow>(
            `INSERT INTO api_keys (id, user_id, name, description, key_prefix, key_hash, scopes, expires_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, now() + make_interval(days => $8)) RETURNING ${COLUMNS}`,
            [
              uuidv7(),
              caller.user_id,
              body.name,
              body.description ?? null,
              shownPrefix(key),
              hashToken(key),
              scopes,
              body.expires_in_days ?? null,
            ],
          )
          const made = rows[0] as KeyRow
          const details = { name: made.name, scopes, expires_at: made.expires_at?.toISOString() ?? null }
          await audit.record(tx, { resource_id: made.id, tenant_id: caller.tenant_id, details })
          return made
        })
        const warning = 'Keep the key now: it is not shown again'
        return { status: 201, body: { api_key: keyRecord(row), full_key: key, warning } }
      },
    },

    listApiKeys: {
      async handle({ caller }) {
        const { rows } = await database.query<KeyRow>(
          `SELECT ${COLUMNS} FROM api_keys WHERE user_id = $1 ORDER BY created_at DESC, id DESC`,
          [caller.user_id],
        )
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
          const { rows } = await tx.query<{ name: string }>(
            'DELETE FROM api_keys WHERE id = $1 AND user_id = $2 RETURNING name',
            [id, caller.user_id],
          )
          const [deleted] = rows
          if (deleted === undefined) throw notFound('The API key')
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
