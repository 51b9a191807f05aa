import { BUILT_IN_ROLES } from '@slipway/contracts'
import { type Database, LOCK_KEYS, type Queryable } from '@slipway/database'
import { ConfigurationError, type ConfigurationProblem, type Logger, uuidv7 } from '@slipway/runtime'
import { normalizeEmail } from '../callers/calling-user.ts'
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH, type PasswordHasher } from '../credentials/passwords.ts'

export interface FirstAdmin {
  email: string | undefined
  password: string | undefined
}

/**
 * Sees to it that the built-in roles are those of this version and that somebody can log in. Any number of replicas may
 * do it at the same time.
 * @throws ConfigurationError when there is no user and none can be made from the configuration
 */
export async function seedIdentity(
  database: Database,
  { admin, passwords, logger }: { admin: FirstAdmin; passwords: PasswordHasher; logger: Logger },
): Promise<void> {
  await database.transaction(async (tx) => {
    await tx.query(`SELECT pg_advisory_xact_lock(${LOCK_KEYS.seedIdentity})`)
    await seedRoles(tx)
    const { rowCount } = await tx.query('SELECT 1 FROM users LIMIT 1')
    if (rowCount !== 0) return
    const { email, password } = requireAdmin(admin)
    await insertAdmin(tx, email, await passwords.hash(password))
    logger.info('the first administrator was created', { email })
  })
}

async function seedRoles(tx: Queryable): Promise<void> {
  const roles = Object.entries(BUILT_IN_ROLES).map(([name, role]) => ({ id: uuidv7(), name, ...role }))
  await tx.query(
    `INSERT INTO roles AS present (id, name, description, permissions, built_in)
     SELECT id, name, description, ARRAY(SELECT jsonb_array_elements_text(permissions)), true
     FROM jsonb_to_recordset($1) AS r(id uuid, name text, description text, permissions jsonb)
     ON CONFLICT (name) DO UPDATE
       SET description = excluded.description, permissions = excluded.permissions, built_in = true, updated_at = now()
       WHERE (present.description, present.permissions, present.built_in)
         IS DISTINCT FROM (excluded.description, excluded.permissions, true)`,
    [JSON.stringify(roles)],
  )
}

async function insertAdmin(tx: Queryable, email: string, passwordHash: string): Promise<void> {
  const id = uuidv7()
  const username = email.split('@')[0] ?? email
  await tx.query(
    `INSERT INTO users (id, email, username, display_name, password_hash, email_verified)
     VALUES ($1, $2, $3, 'Administrator', $4, true)`,
    [id, email, username, passwordHash],
  )
  await tx.query(`INSERT INTO user_roles (user_id, role_id) SELECT $1, id FROM roles WHERE name = 'admin'`, [id])
}

function requireAdmin({ email, password }: FirstAdmin): { email: string; password: string } {
  const problems: ConfigurationProblem[] = []
  const why = 'the database has no user yet, so the first administrator is made from it'
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
