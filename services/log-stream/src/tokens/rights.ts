import type { SseTokenRecord } from '@slipway/contracts'
import type { Queryable } from '@slipway/database'
import { findPresentRights } from './rights.sql.ts'

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
    user_ids: records.map((record) => record.user_id),
    kinds: records.map((record) => record.credential.kind),
    credential_ids: records.map((record) => record.credential.id),
    token_versions: records.map((record) => record.credential.token_version),
  })
  const rights: (PresentRights | null)[] = records.map(() => null)
  for (const { place, tenant_id, permissions, scopes } of rows) {
    const narrowed = scopes && scopes.length > 0 ? permissions.filter((one) => scopes.includes(one)) : permissions
    rights[place - 1] = { tenant_id, permissions: narrowed }
  }
  return rights
}
