import type { SseTokenRecord } from '@slipway/contracts'
import {
  array,
  bindings,
  bindingsSql,
  bool,
  int4,
  int8,
  nullable,
  type Queryable,
  rowSet,
  statement,
  text,
  uuid,
} from '@slipway/database'
import type { Subject } from '@slipway/domain'

/** The valid tokens by position, from 1: those of a session or an API key of an active user. */
const findPresentRights = statement({
  name: 'log-stream.tokens.find-rights',
  parameters: { tokens: rowSet({ user_id: uuid, kind: text, credential_id: uuid, token_version: int4 }, 'place') },
  row: {
    place: int8,
    tenant_id: nullable(uuid),
    bindings,
    has_key: bool,
    scopes: array(text),
    environment_ids: nullable(array(uuid)),
    solution_ids: nullable(array(uuid)),
  },
  sql: `SELECT t.place, u.tenant_id, ${bindingsSql('u.id')} AS bindings, k.id IS NOT NULL AS has_key,
       coalesce(k.scopes, '{}') AS scopes, k.environment_ids, k.solution_ids
      FROM :tokens AS t
      JOIN users u ON u.id = t.user_id AND u.status = 'active'
      LEFT JOIN sessions s ON t.kind = 'session' AND s.id = t.credential_id AND s.user_id = u.id
        AND s.token_version = u.token_version AND s.revoked_at IS NULL AND s.expires_at > now()
      LEFT JOIN api_keys k ON t.kind = 'api_key' AND k.id = t.credential_id AND k.user_id = u.id
        AND u.token_version = t.token_version AND coalesce(k.expires_at > now(), true)
     WHERE s.id IS NOT NULL OR k.id IS NOT NULL`,
})

/** What the user of a valid token may see now. */
export interface PresentRights extends Subject {
  tenant_id: string | null
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
  for (const { place, tenant_id, bindings, has_key, ...limits } of rows) {
    rights[place - 1] = { tenant_id, bindings, key: has_key ? limits : null }
  }
  return rights
}
