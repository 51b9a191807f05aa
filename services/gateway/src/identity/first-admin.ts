import type { Database } from '@slipway/database'
import { BUILT_IN_ROLES, nameKey } from '@slipway/domain'
import { ConfigurationError, type ConfigurationProblem, type Logger, uuidv7 } from '@slipway/runtime'
import { normalizeEmail } from '../callers/calling-user.ts'
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH, type PasswordHasher } from '../credentials/passwords.ts'
import { hasUsers, insertAdmin, lockSeed, seedRoles } from './first-admin.sql.ts'

interface FirstAdmin {
  email: string | undefined
  password: string | undefined
}

/**
 * Writes the built-in roles of this version and, without any user, the first administrator. Several replicas may do so at the same
 * time.
 * @throws ConfigurationError if the configuration of the first administrator is needed and not valid
 */
export async function seedIdentity(
  database: Database,
  { admin, passwords, logger }: { admin: FirstAdmin; passwords: PasswordHasher; logger: Logger },
): Promise<void> {
  await database.transaction(async (tx) => {
    await lockSeed.run(tx)
    const roles = Object.entries(BUILT_IN_ROLES).map(([name, { description, permissions }]) => ({
      id: uuidv7(),
      name,
      name_key: nameKey(name),
      description,
      permissions,
    }))
    await seedRoles.runRows(tx, roles)
    if ((await hasUsers.one(tx)).found) return
    const { email, password } = requireAdmin(admin)
    const username = email.split('@')[0] ?? email
    await insertAdmin.run(tx, {
      id: uuidv7(),
      email,
      username,
      name_key: nameKey(username),
      password_hash: await passwords.hash(password),
    })
    logger.info('the first administrator was created', { email })
  })
}

function requireAdmin({ email, password }: FirstAdmin): { email: string; password: string } {
  const problems: ConfigurationProblem[] = []
  const why = 'the database has no user yet, so the gateway creates the first administrator from it'
  if (email === undefined) {
    problems.push({ variable: 'SLIPWAY_ADMIN_EMAIL', problem: `is missing: ${why}`, example: 'admin@example.com' })
  }
  const length = password === undefined ? 0 : [...password].length
  if (length < MIN_PASSWORD_LENGTH || length > MAX_PASSWORD_LENGTH) {
    const problem = password === undefined ? 'is missing' : `has ${length} characters`
    const range = `it must have ${MIN_PASSWORD_LENGTH} to ${MAX_PASSWORD_LENGTH} characters`
    problems.push({ variable: 'SLIPWAY_ADMIN_PASSWORD', problem: `${problem}: ${range}; ${why}` })
  }
  if (email === undefined || password === undefined || problems.length > 0) throw new ConfigurationError(problems)
  return { email: normalizeEmail(email), password }
}
