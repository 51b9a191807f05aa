import pg from 'pg'
import type { DatabaseRole } from './rights.ts'

/** `duplicate_object`, or `unique_violation` when two processes create the same role at the same moment. */
const EXISTS = new Set(['42710', '23505'])

/**
 * Creates a login role for each address. If the role exists, it sets the password. The caller must have the right to create
 * roles. The roles have no rights before `applyGrants`.
 */
export async function createRoles(client: pg.ClientBase, urls: ReadonlyMap<DatabaseRole, URL>): Promise<string[]> {
  const created: string[] = []
  for (const url of urls.values()) {
    const role = pg.escapeIdentifier(decodeURIComponent(url.username))
    const password = pg.escapeLiteral(decodeURIComponent(url.password))
    try {
      await client.query(`CREATE ROLE ${role} LOGIN PASSWORD ${password}`)
    } catch (error) {
      if (!EXISTS.has(String((error as { code?: unknown }).code))) throw error
      await client.query(`ALTER ROLE ${role} LOGIN PASSWORD ${password}`)
    }
    created.push(decodeURIComponent(url.username))
  }
  return created
}
