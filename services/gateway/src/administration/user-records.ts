import type { Queryable } from '@slipway/database'
import { isUuid, notFound } from '@slipway/domain'
import { ownSql, type Viewer } from '../tenancy/visibility.ts'

/** A user as administrators see them. */
export interface UserRecord {
  id: string
  email: string
  username: string
  display_name: string | null
  status: string
  roles: string[]
  permissions: string[]
  tenant_id: string | null
  email_verified: boolean
  created_at: Date
}

const COLUMNS = `u.id, u.email, u.username, u.display_name, u.status,
  ARRAY(SELECT r.name FROM user_roles ur JOIN roles r ON r.id = ur.role_id WHERE ur.user_id = u.id ORDER BY 1) AS roles,
  ARRAY(SELECT DISTINCT p FROM user_roles ur JOIN roles r ON r.id = ur.role_id, unnest(r.permissions) p
        WHERE ur.user_id = u.id ORDER BY 1) AS permissions,
  u.tenant_id, u.email_verified, u.created_at`

const matches = (parameter: number) =>
  `($${parameter}::text IS NULL OR u.username ILIKE $${parameter} OR u.display_name ILIKE $${parameter} OR u.email ILIKE $${parameter})`

/** `pattern` is one of LIKE, or null for all. */
export async function countUsers(db: Queryable, viewer: Viewer, pattern: string | null): Promise<number> {
  const { rows } = await db.query<{ total: number }>(
    `SELECT count(*)::int AS total FROM users u WHERE ${ownSql('u', '$1')} AND ${matches(2)}`,
    [viewer.tenant_id, pattern],
  )
  return rows[0]?.total ?? 0
}

/** Newest first. */
export async function pageOfUsers(
  db: Queryable,
  viewer: Viewer,
  pattern: string | null,
  { skip, take }: { skip: number; take: number },
): Promise<UserRecord[]> {
  const { rows } = await db.query<UserRecord>(
    `SELECT ${COLUMNS} FROM users u WHERE ${ownSql('u', '$1')} AND ${matches(2)}
     ORDER BY u.created_at DESC, u.id DESC LIMIT $3 OFFSET $4`,
    [viewer.tenant_id, pattern, take, skip],
  )
  return rows
}

/** @throws Problem NOT_FOUND, also for users of no tenant where the viewer is bound to one */
export async function readUser(db: Queryable, viewer: Viewer, id: string): Promise<UserRecord> {
  const { rows } = isUuid(id)
    ? await db.query<UserRecord>(`SELECT ${COLUMNS} FROM users u WHERE u.id = $2 AND ${ownSql('u', '$1')}`, [
        viewer.tenant_id,
        id,
      ])
    : { rows: [] }
  const [user] = rows
  if (user === undefined) throw notFound('The user')
  return user
}

/** The same, locked until the transaction ends. */
export async function lockUser(tx: Queryable, viewer: Viewer, id: string): Promise<UserRecord> {
  if (isUuid(id)) {
    await tx.query(`SELECT FROM users u WHERE u.id = $2 AND ${ownSql('u', '$1')} FOR UPDATE`, [viewer.tenant_id, id])
  }
  return readUser(tx, viewer, id)
}
