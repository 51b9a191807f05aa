import { array, LOCK_KEYS, statement, text, uuid } from '@slipway/database'

/** Held until the transaction ends: nobody deletes a role that is being given. */
export const holdRoles = statement({
  name: 'gateway.users.hold-roles',
  parameters: { names: array(text) },
  row: { id: uuid, name: text, permissions: array(text) },
  sql: `SELECT id, name, coalesce(permissions, '{}') AS permissions FROM roles WHERE name = ANY (:names)
     ORDER BY id FOR SHARE`,
})

/** Of two who would be the last of each other's, one goes first, and the other then sees it. */
export const lockLastAdmin = statement({
  name: 'gateway.users.lock-last-admin',
  sql: `SELECT FROM pg_advisory_xact_lock(${LOCK_KEYS.lastAdmin})`,
})
