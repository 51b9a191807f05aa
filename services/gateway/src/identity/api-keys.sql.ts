import { array, int4, nullable, statement, text, timestamptz, uuid } from '@slipway/database'

const row = {
  id: uuid,
  name: text,
  description: nullable(text),
  key_prefix: text,
  scopes: array(text),
  environment_ids: nullable(array(uuid)),
  solution_ids: nullable(array(uuid)),
  last_used_at: nullable(timestamptz),
  last_used_ip: nullable(text),
  created_at: timestamptz,
  expires_at: nullable(timestamptz),
}
const COLUMNS = `id, name, description, key_prefix, coalesce(scopes, '{}') AS scopes, environment_ids, solution_ids, last_used_at, last_used_ip,
      created_at, expires_at`

/** Without days the key does not expire. */
export const insertKey = statement({
  name: 'gateway.api-keys.insert',
  parameters: {
    id: uuid,
    user_id: uuid,
    name: text,
    description: nullable(text),
    key_prefix: text,
    key_hash: text,
    scopes: array(text),
    environment_ids: nullable(array(uuid)),
    solution_ids: nullable(array(uuid)),
    days: nullable(int4),
  },
  row,
  sql: `INSERT INTO api_keys (id, user_id, name, description, key_prefix, key_hash, scopes, environment_ids, solution_ids,
                          expires_at)
    VALUES (:id, :user_id, :name, :description, :key_prefix, :key_hash, :scopes, :environment_ids, :solution_ids,
            now() + make_interval(days => :days))
    RETURNING ${COLUMNS}`,
})

export const findKeys = statement({
  name: 'gateway.api-keys.find-of-user',
  parameters: { user_id: uuid },
  row,
  sql: `SELECT ${COLUMNS} FROM api_keys WHERE user_id = :user_id ORDER BY created_at DESC, id DESC`,
})

export const deleteKey = statement({
  name: 'gateway.api-keys.delete',
  parameters: { id: uuid, user_id: uuid },
  row: { name: text },
  sql: 'DELETE FROM api_keys WHERE id = :id AND user_id = :user_id RETURNING name',
})

export const deleteKeysOfUser = statement({
  name: 'gateway.api-keys.delete-of-user',
  parameters: { user_id: uuid },
  sql: 'DELETE FROM api_keys WHERE user_id = :user_id',
})

export const noteKeyUse = statement({
  name: 'gateway.api-keys.note-use',
  parameters: { id: uuid, client_ip: text },
  sql: 'UPDATE api_keys SET last_used_at = now(), last_used_ip = :client_ip WHERE id = :id',
})
