import { execFileSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createDatabase, type Database, LOCK_KEYS } from '@slipway/database'
import pg from 'pg'
import { repositoryRoot } from './repository.ts'
import { serverUrl } from './servers.ts'

export interface TestDatabase {
  /** As a service gets it: of an ordinary role, which row-level security holds. */
  url: string
  drop(): Promise<void>
}

/** Owns the test databases. Superusers pass by row-level security, and the server's user may be one. */
const OWNER = 'slipway_tests'

/** The server as this user sees it. */
function serverAs(role: { name: string; password: string } | null, database?: string): string {
  const url = new URL(serverUrl('DATABASE_URL'))
  if (role !== null) {
    url.username = role.name
    url.password = role.password
  }
  if (database !== undefined) url.pathname = `/${database}`
  return url.href
}

/** Names a template after what the migrations say, so that a changed migration makes a new one. */
function templateName(): string {
  const folder = path.join(repositoryRoot, 'prisma/migrations')
  const hash = createHash('sha256')
  for (const name of fs.readdirSync(folder).sort()) {
    const file = path.join(folder, name, 'migration.sql')
    if (fs.existsSync(file)) hash.update(name).update(fs.readFileSync(file))
  }
  return `slipway_template_${hash.digest('hex').slice(0, 12)}_owned`
}

/** The role that owns test databases: one of our own where the server's user is a superuser, else that user. */
async function ensureOwner(admin: pg.Client): Promise<{ name: string; password: string } | null> {
  const { rows } = await admin.query<{ bypasses: boolean }>(
    'SELECT rolsuper OR rolbypassrls AS bypasses FROM pg_roles WHERE rolname = current_user',
  )
  if (!rows[0]?.bypasses) return null
  const owner = { name: OWNER, password: new URL(serverUrl('DATABASE_URL')).password || OWNER }
  const { rowCount } = await admin.query('SELECT FROM pg_roles WHERE rolname = $1', [OWNER])
  const password = pg.escapeLiteral(decodeURIComponent(owner.password))
  if (rowCount === 0) await admin.query(`CREATE ROLE ${OWNER} LOGIN CREATEDB PASSWORD ${password}`)
  return owner
}

async function ensureTemplate(
  admin: pg.Client,
): Promise<{ name: string; owner: Awaited<ReturnType<typeof ensureOwner>> }> {
  const name = templateName()
  await admin.query(`SELECT pg_advisory_lock(${LOCK_KEYS.testTemplate})`)
  try {
    const owner = await ensureOwner(admin)
    const { rowCount } = await admin.query('SELECT 1 FROM pg_database WHERE datname = $1', [name])
    if (rowCount === 0) {
      const making = `${name}_making`
      await dropDatabase(admin, making)
      await admin.query(`CREATE DATABASE ${making} ${ownedBy(owner)}`)
      execFileSync(process.execPath, ['packages/database/scripts/migrate.mjs', 'deploy'], {
        cwd: repositoryRoot,
        env: { ...process.env, DATABASE_URL: serverAs(owner, making) },
        stdio: ['ignore', 'ignore', 'inherit'],
      })
      await admin.query(`ALTER DATABASE ${making} RENAME TO ${name}`)
    }
    return { name, owner }
  } finally {
    await admin.query(`SELECT pg_advisory_unlock(${LOCK_KEYS.testTemplate})`)
  }
}

const ownedBy = (owner: { name: string } | null) => (owner === null ? '' : `OWNER ${owner.name}`)

/** A migrated, empty database of its own: a clone of a template, which takes a fraction of a second. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const admin = new pg.Client(serverUrl('DATABASE_URL'))
  await admin.connect()
  const name = `slipway_test_${randomBytes(6).toString('hex')}`
  try {
    const template = await ensureTemplate(admin)
    await admin.query(`CREATE DATABASE ${name} TEMPLATE ${template.name} ${ownedBy(template.owner)}`)
    return {
      url: serverAs(template.owner, name),
      async drop() {
        const client = new pg.Client(serverUrl('DATABASE_URL'))
        await client.connect()
        await dropDatabase(client, name)
        await client.end()
      },
    }
  } finally {
    await admin.end()
  }
}

const INSUFFICIENT_PRIVILEGE = '42501'
const OBJECT_IN_USE = '55006'
const MAX_DROPS = 50

/**
 * Drops a database together with its sessions. An autovacuum worker is a superuser's session, which an ordinary user may
 * not end by FORCE: without it Postgres sends the worker away itself, and only sessions of ours are waited for.
 */
async function dropDatabase(client: pg.Client, name: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const force = attempt % 2 === 1 ? 'WITH (FORCE)' : ''
    try {
      await client.query(`DROP DATABASE IF EXISTS ${name} ${force}`)
      return
    } catch (error) {
      const { code } = error as { code?: string }
      const passes = code === INSUFFICIENT_PRIVILEGE || code === OBJECT_IN_USE
      if (!passes || attempt === MAX_DROPS) throw error
      await sleep(100)
    }
  }
}

export interface OpenTestDatabase extends TestDatabase {
  /** Sees the rows of all tenants. */
  database: Database
}

/** The same with a pool to it, which `drop` closes. */
export async function openTestDatabase(): Promise<OpenTestDatabase> {
  const { url, drop } = await createTestDatabase()
  const database = createDatabase({ url, applicationName: 'test', max: 30, tenant: '*' })
  return {
    url,
    database,
    async drop() {
      await database.close()
      await drop()
    },
  }
}

/** A connection that sees the rows of all tenants, or of one; for looking from outside. The caller ends it. */
export async function connectTo(databaseUrl: string, tenant = '*'): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: databaseUrl, options: `-c slipway.tenant=${tenant}` })
  await client.connect()
  return client
}
