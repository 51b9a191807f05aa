import { array, LOCK_KEYS, statement, text, uuid } from '@slipway/database'

/** Locks roles until the end of the transaction: a role must not be deleted while it is assigned. */
export const holdRoles = statement({
  name: 'gateway.users.hold-roles',
  parameters: { names: array(text) },
  row: { id: uuid, name: text, permissions: array(text) },
  sql: `SELECT id, name, coalesce(permissions, '{}') AS permissions FROM roles WHERE name = ANY (:names)
     ORDER BY id FOR SHARE`,
})

/** Serializes changes that remove an administrator: two of them must not remove the last two. */
export const lockLastAdmin = statement({
  name: 'gateway.users.lock-last-admin',
  sql: `SELECT FROM pg_advisory_xact_lock(${LOCK_KEYS.lastAdmin})`,
})
