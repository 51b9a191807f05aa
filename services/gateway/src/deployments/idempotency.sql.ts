import type { CallingKey } from '@slipway/contracts'
import { bool, int8, jsonb, nullable, statement, text, uuid } from '@slipway/database'

/** A key is valid for this time after the call that took it. */
const IS_OVER = `claimed_at <= now() - interval '24 hours'`

/** A key of a user; `scope` is method and path. */
const key = { user_id: uuid, scope: text, key: text }
const IS_KEY = 'user_id = :user_id AND scope = :scope AND key = :key'

/** Takes a key that is free or has expired. */
export const takeKey = statement({
  name: 'gateway.idempotency.take',
  parameters: {
    ...key,
    command_id: uuid,
    body_hash: text,
    request_id: text,
    client_ip: text,
    api_key: nullable(jsonb<CallingKey>()),
  },
  sql: `INSERT INTO idempotency_keys AS k (user_id, scope, key, command_id, body_hash, request_id, client_ip, api_key)
    VALUES (:user_id, :scope, :key, :command_id, :body_hash, :request_id, :client_ip, :api_key)
    ON CONFLICT (user_id, scope, key) DO UPDATE
      SET command_id = EXCLUDED.command_id, body_hash = EXCLUDED.body_hash, request_id = EXCLUDED.request_id,
          client_ip = EXCLUDED.client_ip, api_key = EXCLUDED.api_key, claimed_at = now()
    WHERE k.${IS_OVER}`,
})

/**
 * The call that took a key. After 10 s the call is no longer in progress: a gateway waits less than that for a command, so it has
 * answered or is dead.
 */
export const findKey = statement({
  name: 'gateway.idempotency.find',
  parameters: key,
  row: {
    command_id: uuid,
    body_hash: text,
    request_id: nullable(text),
    client_ip: nullable(text),
    api_key: nullable(jsonb<CallingKey>()),
    in_progress: bool,
  },
  sql: `SELECT command_id, body_hash, request_id, client_ip, api_key, claimed_at > now() - interval '10 seconds' AS in_progress
      FROM idempotency_keys WHERE ${IS_KEY}`,
})

export const releaseKey = statement({
  name: 'gateway.idempotency.release',
  parameters: { ...key, command_id: uuid },
  sql: `DELETE FROM idempotency_keys WHERE ${IS_KEY} AND command_id = :command_id`,
})

export const deleteOldKeys = statement({
  name: 'gateway.idempotency.delete-old',
  parameters: { limit: int8 },
  sql: `DELETE FROM idempotency_keys WHERE (user_id, scope, key) IN (
      SELECT user_id, scope, key FROM idempotency_keys WHERE ${IS_OVER}
       ORDER BY claimed_at LIMIT :limit FOR UPDATE SKIP LOCKED)`,
})
