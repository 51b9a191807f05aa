import { int4, int8, jsonb, nullable, statement, text, timestamptz, uuid } from '@slipway/database'
import { USER } from '../../callers/calling-user.sql.ts'

interface TrustOfAccount {
  id: string
  name: string
  issuer: string
  audience: string
  claims: Record<string, string>
}

/** One statement, whether the user exists or not, and whatever trusts it has. */
export const findAccount = statement({
  name: 'gateway.tokens.find-account',
  parameters: { username: text },
  row: { ...USER.row, trusts: jsonb<TrustOfAccount[]>() },
  sql: `SELECT ${USER.columns},
       (SELECT coalesce(jsonb_agg(jsonb_build_object(
                 'id', t.id, 'name', t.name, 'issuer', t.issuer, 'audience', t.audience, 'claims', t.claims)
               ORDER BY t.created_at, t.id), '[]') FROM trusts t WHERE t.user_id = u.id) AS trusts
      FROM users u WHERE u.username = :username`,
})

/** Returns 0 if the token was exchanged before. */
export const takeToken = statement({
  name: 'gateway.tokens.take',
  parameters: { token_hash: text, expires_at: timestamptz },
  sql: 'INSERT INTO exchanged_tokens (token_hash, expires_at) VALUES (:token_hash, :expires_at) ON CONFLICT DO NOTHING',
})

/** The lifetime of an access token that was exchanged. */
export const EXCHANGED_SECONDS = 900

/** A session without refresh token: it ends by itself. */
export const insertExchangedSession = statement({
  name: 'gateway.tokens.insert-session',
  parameters: {
    id: uuid,
    user_id: uuid,
    token_version: int4,
    client_ip: text,
    user_agent: nullable(text),
  },
  sql: `INSERT INTO sessions (id, user_id, token_version, expires_at, last_used_at, client_ip, user_agent)
    VALUES (:id, :user_id, :token_version, now() + interval '${EXCHANGED_SECONDS} seconds', now(), :client_ip, :user_agent)`,
})

/** Passes over rows that are locked: many jobs of an account exchange their tokens at once. */
export const deleteEndedSessionsOfAccount = statement({
  name: 'gateway.tokens.delete-ended-sessions',
  parameters: { user_id: uuid },
  sql: `DELETE FROM sessions WHERE id IN (
      SELECT id FROM sessions WHERE user_id = :user_id AND expires_at < now() LIMIT 100 FOR UPDATE SKIP LOCKED)`,
})

export const deleteExpiredTokens = statement({
  name: 'gateway.tokens.delete-expired',
  parameters: { limit: int8 },
  sql: `DELETE FROM exchanged_tokens WHERE token_hash IN (
      SELECT token_hash FROM exchanged_tokens WHERE expires_at < now()
       ORDER BY expires_at LIMIT :limit FOR UPDATE SKIP LOCKED)`,
})

const trust = {
  id: uuid,
  name: text,
  issuer: text,
  audience: text,
  claims: jsonb<Record<string, string>>(),
  created_at: timestamptz,
  created_by: nullable(uuid),
}
const TRUST_COLUMNS = 'id, name, issuer, audience, claims, created_at, created_by'

export const findTrusts = statement({
  name: 'gateway.trusts.find-of-user',
  parameters: { user_id: uuid },
  row: trust,
  sql: `SELECT ${TRUST_COLUMNS} FROM trusts WHERE user_id = :user_id ORDER BY created_at, id`,
})

/** Returns no row if the account has a trust of this name. */
export const insertTrust = statement({
  name: 'gateway.trusts.insert',
  parameters: {
    id: uuid,
    user_id: uuid,
    name: text,
    issuer: text,
    audience: text,
    claims: jsonb<Record<string, string>>(),
    created_by: uuid,
  },
  row: trust,
  sql: `INSERT INTO trusts (id, user_id, name, issuer, audience, claims, created_by)
    VALUES (:id, :user_id, :name, :issuer, :audience, :claims, :created_by)
    ON CONFLICT (user_id, name) DO NOTHING RETURNING ${TRUST_COLUMNS}`,
})

export const deleteTrust = statement({
  name: 'gateway.trusts.delete',
  parameters: { id: uuid, user_id: uuid },
  row: { name: text, issuer: text },
  sql: 'DELETE FROM trusts WHERE id = :id AND user_id = :user_id RETURNING name, issuer',
})
