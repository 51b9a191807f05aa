import type { SseTokenRecord } from '@slipway/contracts'
import { array, int4, int8, nullable, type Queryable, rowSet, statement, text, uuid } from '@slipway/database'

/** The valid tokens by position, from 1: those of a session or an API key of an active user. */
const findPresentRights = statement({
  name: 'log-stream.tokens.find-rights',
  parameters: { tokens: rowSet({ user_id: uuid, kind: text, credential_id: uuid, token_version: int4 }, 'place') },
  row: {
    place: int8,
    tenant_id: nullable(uuid),
    scopes: nullable(array(text)),
    permissions: array(text),
  },
  sql: `SELECT t.place, u.tenant_id, k.scopes,
       ARRAY(SELECT DISTINCT p FROM user_roles ur JOIN roles r ON r.id = ur.role_id, unnest(r.permissions) p
              WHERE ur.user_id = u.id) AS permissions
      FROM :tokens AS t
      JOIN users u ON u.id = t.user_id AND u.status = 'active'
      LEFT JOIN sessions s ON t.kind = 'session' AND s.id = t.credential_id AND s.user_id = u.id
        AND s.token_version = u.token_version AND s.revoked_at IS NULL AND s.expires_at > now()
      LEFT JOIN api_keys k ON t.kind = 'api_key' AND k.id = t.credential_id AND k.user_id = u.id
        AND u.token_version = t.token_version AND coalesce(k.expires_at > now(), true)
     WHERE s.id IS NOT NULL OR k.id IS NOT NULL`,
})

/** What the user of a valid token may see now. */
export interface PresentRights {
  tenant_id: string | null
  permissions: string[]
}

/**
 * The present rights of each token; null if it is no longer valid: its user is not active, all sessions of the user were ended,
 * the session is over, or the API key is gone. Reads all tokens in one query.
 */
export async function presentRightsOf(db: Queryable, records: SseTokenRecord[]): Promise<(PresentRights | null)[]> {
  const rows = await findPresentRights.all(db, {
    tokens: records.map(({ user_id, credential: { kind, id, token_version } }) => ({
      user_id,
      kind,
      credential_id: id,
      token_version,
    })),
  })
  const rights: (PresentRights | null)[] = records.map(() => null)
  for (const { place, tenant_id, permissions, scopes } of rows) {
    const narrowed = scopes && scopes.length > 0 ? permissions.filter((one) => scopes.includes(one)) : permissions
    rights[place - 1] = { tenant_id, permissions: narrowed }
  }
  return rights
}
