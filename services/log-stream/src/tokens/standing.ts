import type { SseTokenRecord } from '@slipway/contracts'
import type { Queryable } from '@slipway/database'
import { findStandings } from './standing.sql.ts'

/** What the holder of a good token may see at this moment. */
export interface Standing {
  tenant_id: string | null
  permissions: string[]
}

/**
 * What each of these tokens stands for now; null where it stands for nothing any more: its user is not active, all their
 * sessions were ended, the session is over, or the API key is gone. One query, however many they are.
 */
export async function standingsOf(db: Queryable, records: SseTokenRecord[]): Promise<(Standing | null)[]> {
  const rows = await findStandings.all(db, {
    user_ids: records.map((record) => record.user_id),
    kinds: records.map((record) => record.credential.kind),
    credential_ids: records.map((record) => record.credential.id),
    token_versions: records.map((record) => record.credential.token_version),
  })
  const standings: (Standing | null)[] = records.map(() => null)
  for (const { place, tenant_id, permissions, scopes } of rows) {
    const narrowed = scopes && scopes.length > 0 ? permissions.filter((one) => scopes.includes(one)) : permissions
    standings[place - 1] = { tenant_id, permissions: narrowed }
  }
  return standings
}
