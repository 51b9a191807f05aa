import { execFileSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  applyGrants,
  createDatabase,
  createRoles,
  DATABASE_ROLES,
  type Database,
  type DatabaseRole,
  LOCK_KEYS,
} from '@slipway/database'
import { serviceUser } from '@slipway/runtime'
import pg from 'pg'
import { repositoryRoot } from './repository.ts'
import { serverUrl } from './servers.ts'

export interface TestDatabase {
  /** The URL for the owner of the tables, to prepare and check data. Row-level security also applies to the owner. */
  url: string
  /** The URL for the role with the rights of a service. */
  urlOf(role: DatabaseRole): string
  drop(): Promise<void>
}

/** Roles belong to the whole server. The prefix keeps the roles of tests apart from those of an installation. */
export const TEST_ROLE_PREFIX = 'slipway_tests_'
/** The owner of test databases. The user of the server may be a superuser, and those bypass row-level security. */
const OWNER = 'slipway_tests'

interface Role {
  name: string
  password: string
}

function serverAs(role: Role | null, database?: string): string {
  const url = new URL(serverUrl('DATABASE_URL'))
  if (role !== null) {
    url.username = role.name
    url.password = role.password
  }
  if (database !== undefined) url.pathname = `/${database}`
  return url.href
}

/** The template database depends on these sources: the migrations and the rights of the roles. */
const TEMPLATE_SOURCES = [
  'prisma/migrations',
  'packages/database/src/roles',
  'packages/database/src/sealing/sealed-places.ts',
]

/** The name contains a hash of the sources, so a changed migration or right leads to a new template. */
function templateName(): string {
  const hash = createHash('sha256')
  for (const source of TEMPLATE_SOURCES) {
    const place = path.join(repositoryRoot, source)
    const isFolder = fs.statSync(place).isDirectory()
    const names = isFolder ? fs.readdirSync(place, { recursive: true, encoding: 'utf8' }).sort() : ['']
    for (const name of names) {
      const file = path.join(place, name)
      if (fs.statSync(file).isFile()) hash.update(name).update(fs.readFileSync(file))
    }
  }
  return `slipway_template_${hash.digest('hex').slice(0, 12)}`
}

const testRole = (role: DatabaseRole): Role => ({
  name: serviceUser(role, TEST_ROLE_PREFIX),
  password: new URL(serverUrl('DATABASE_URL')).password || OWNER,
})

/** @throws Error if roles are missing and this user may not create them */
async function ensureRoles(admin: pg.Client): Promise<void> {
  const wanted = new Map(DATABASE_ROLES.map((role) => [role, testRole(role)]))
  const { rows } = await admin.query<{ found: number; creates: boolean }>(
    `SELECT (SELECT count(*)::int FROM pg_roles WHERE rolname = ANY($1)) AS found, rolsuper OR rolcreaterole AS creates
       FROM pg_roles WHERE rolname = current_user`,
    [[...wanted.values()].map(({ name }) => name)],
  )
  if (rows[0]?.found === wanted.size) return
  if (rows[0]?.creates !== true) {
    throw new Error(
      `The server lacks the roles of services for tests (${TEST_ROLE_PREFIX}…): run \`make build\` and ` +
        '`scripts/infra.sh up`, or give the user of DATABASE_URL the attribute CREATEROLE',
    )
  }
  await createRoles(admin, new Map([...wanted].map(([role, login]) => [role, new URL(serverAs(login))])))
}

/** The owner of test databases: a separate role if the user of the server is a superuser, else that user (null). */
async function ensureOwner(admin: pg.Client): Promise<Role | null> {
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

interface Template {
  name: string
  owner: Role | null
}

async function ensureTemplate(admin: pg.Client): Promise<Template> {
  const name = templateName()
  await admin.query(`SELECT pg_advisory_lock(${LOCK_KEYS.testTemplate})`)
  try {
    const owner = await ensureOwner(admin)
    await ensureRoles(admin)
    const { rowCount } = await admin.query('SELECT 1 FROM pg_database WHERE datname = $1', [name])
    if (rowCount === 0) {
      const making = `${name}_making`
      await dropDatabase(admin, making)
      await admin.query(`CREATE DATABASE ${making} ${ownedBy(owner)}`)
      execFileSync(process.execPath, ['packages/database/scripts/migrate.mjs', 'schema'], {
        cwd: repositoryRoot,
        env: { ...process.env, DATABASE_URL: serverAs(owner, making) },
        stdio: ['ignore', 'ignore', 'inherit'],
      })
      await grantRights(serverAs(owner, making))
      await admin.query(`ALTER DATABASE ${making} RENAME TO ${name}`)
    }
    return { name, owner }
  } finally {
    await admin.query(`SELECT pg_advisory_unlock(${LOCK_KEYS.testTemplate})`)
  }
}

async function grantRights(url: string): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    await applyGrants(client, TEST_ROLE_PREFIX)
  } finally {
    await client.end()
  }
}

const ownedBy = (owner: Role | null) => (owner === null ? '' : `OWNER ${owner.name}`)

/** One look-up per process is enough, because sources do not change during tests. */
let knownTemplate: Promise<Template> | null = null

/** Creates a migrated, empty database as a clone of a template. This takes a fraction of a second. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const admin = new pg.Client(serverUrl('DATABASE_URL'))
  await admin.connect()
  const name = `slipway_test_${randomBytes(6).toString('hex')}`
  try {
    knownTemplate ??= ensureTemplate(admin)
    const template = await knownTemplate
    await admin.query(`CREATE DATABASE ${name} TEMPLATE ${template.name} ${ownedBy(template.owner)}`)
    // A clone does not have the rights on its template.
    await admin.query(`REVOKE TEMPORARY ON DATABASE ${name} FROM PUBLIC`)
    return {
      url: serverAs(template.owner, name),
      urlOf: (role) => serverAs(testRole(role), name),
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
 * Drops a database with its sessions. An ordinary user may not use FORCE while an autovacuum worker runs, because the worker is a
 * session of a superuser. Without FORCE, Postgres ends the worker itself. So the attempts alternate.
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
  /** The connection pool of the owner, to prepare and check data. Sees the rows of all tenants. */
  database: Database
  /** A connection pool with the rights of this role, for the tested code. Sees the rows of all tenants. */
  as(role: DatabaseRole): Database
}

const opened = new WeakMap<Database, (role: DatabaseRole) => Database>()

/** Creates a test database and opens connection pools. `drop` closes them. */
export async function openTestDatabase(): Promise<OpenTestDatabase> {
  const { url, urlOf, drop } = await createTestDatabase()
  const open = (url: string) => createDatabase({ url, applicationName: 'test', max: 30, tenant: '*' })
  const database = open(url)
  const ofRoles = new Map<DatabaseRole, Database>()
  const as = (role: DatabaseRole): Database => {
    const known = ofRoles.get(role) ?? open(urlOf(role))
    ofRoles.set(role, known)
    return known
  }
  opened.set(database, as)
  return {
    url,
    urlOf,
    database,
    as,
    async drop() {
      await Promise.all([database, ...ofRoles.values()].map((one) => one.close()))
      await drop()
    },
  }
}

/** A pool with the rights of this role, for the test database of the owner's pool. */
export function databaseAs(owner: Database, role: DatabaseRole): Database {
  const as = opened.get(owner)
  if (as === undefined) throw new Error('databaseAs: not the `database` of openTestDatabase')
  return as(role)
}

/**
 * Opens a connection that sees the rows of all tenants or of one tenant. The caller ends it. When the connection is lost, `onLost` is
 * called, and the next query throws.
 */
export async function connectTo(databaseUrl: string, tenant = '*', onLost = () => {}): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: databaseUrl, options: `-c slipway.tenant=${tenant}` })
  // Before it connects: the session may end as soon as it is open.
  client.on('error', onLost)
  await client.connect()
  return client
}

/**
 * Opens a pool that sees the rows of all tenants, for queries at the same time. The caller ends it. Unlike the pool of a service, it
 * has no time limit for a connection, because a busy machine may need longer.
 */
export function openPool(databaseUrl: string): pg.Pool {
  const pool = new pg.Pool({ connectionString: databaseUrl, options: '-c slipway.tenant=*' })
  // An idle connection that breaks is replaced at its next use. Without a listener the event ends the process.
  pool.on('error', () => {})
  return pool
}

/** The SQL text of an argument of `query`, for tests that intercept queries. */
export const sqlOf = (statement: string | pg.QueryConfig): string =>
  typeof statement === 'string' ? statement : statement.text

export const valuesOf = (statement: string | pg.QueryConfig, values: unknown[] = []): unknown[] =>
  typeof statement === 'string' ? values : (statement.values ?? [])
