import pg from 'pg'
import { DEFAULT_PREFIX, roleName, urlVariable } from './names.ts'
import { DATABASE_ROLES, type DatabaseRole } from './rights.ts'

/** `duplicate_object`, or `unique_violation` when two processes create the same role at the same moment. */
const EXISTS = new Set(['42710', '23505'])

/** The address of each role that the environment names. @throws Error for an address of another user */
export function roleUrls(
  environment: Record<string, string | undefined>,
  prefix = DEFAULT_PREFIX,
): Map<DatabaseRole, URL> {
  const urls = new Map<DatabaseRole, URL>()
  for (const role of DATABASE_ROLES) {
    const variable = urlVariable(role)
    const text = environment[variable]
    if (!text) continue
    if (!URL.canParse(text))
      throw new Error(`${variable} is no address like postgresql://user:password@host:5432/slipway`)
    const url = new URL(text)
    const expected = roleName(role, prefix)
    if (decodeURIComponent(url.username) !== expected) {
      throw new Error(
        `${variable} names the user ${url.username}: it must be ${expected}, or change SLIPWAY_ROLE_PREFIX`,
      )
    }
    if (url.password === '') throw new Error(`${variable} has no password: each role logs in with its own`)
    urls.set(role, url)
  }
  return urls
}

/**
 * Creates a login role for each address, and gives it the password of the address if it exists already. The caller may create
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
