import type { SseTokenRecord } from '@slipway/contracts'
import type { Queryable } from '@slipway/database'

/** What the holder of a good token may see at this moment. */
export interface Standing {
  tenant_id: string | null
  permissions: string[]
}

type Row = Standing & { place: number; scopes: string[] | null }

/**
 * What each of these tokens stands for now; null where it stands for nothing any more: its user is not active, all their
 * sessions were ended, the session is over, or the API key is gone. One query, however many they are.
 */
export async function standingsOf(db: Queryable, records: SseTokenRecord[]): Promise<(Standing | null)[]> {
  const { rows } = await db.query<Row>(
    `SELECT t.place, u.tenant_id, k.scopes,
       ARRAY(SELECT DISTINCT p FROM user_roles ur JOIN roles r ON r.id = ur.role_id, unnest(r.permissions) p
             WHERE ur.user_id = u.id) AS permissions
     FROM unnest($1::uuid[], $2::text[], $3::uuid[], $4::int[]) WITH ORDINALITY
       AS t(user_id, kind, credential_id, token_version, place)
     JOIN users u ON u.id = t.user_id AND u.status = 'active'
     LEFT JOIN sessions s ON t.kind = 'session' AND s.id = t.credential_id AND s.user_id = u.id
       AND s.token_version = u.token_version AND s.revoked_at IS NULL AND s.expires_at > now()
     LEFT JOIN api_keys k ON t.kind = 'api_key' AND k.id = t.credential_id AND k.user_id = u.id
       AND u.token_version = t.token_version AND coalesce(k.expires_at > now(), true)
     WHERE s.id IS NOT NULL OR k.id IS NOT NULL`,
    [
      records.map((record) => record.user_id),
      records.map((record) => record.credential.kind),
      records.map((record) => record.credential.id),
      records.map((record) => record.credential.token_version),
    ],
  )
  const standings: (Standing | null)[] = records.map(() => null)
  for (const { place, tenant_id, permissions, scopes } of rows) {
    const narrowed = scopes && scopes.length > 0 ? permissions.filter((one) => scopes.includes(one)) : permissions
    standings[place - 1] = { tenant_id, permissions: narrowed }
  }
  return standings
}
