import { execFileSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import pg from 'pg'
import { repositoryRoot } from './repository.ts'
import { serverUrl } from './servers.ts'

export interface TestDatabase {
  url: string
  drop(): Promise<void>
}

/** Template databases are made by one test process while the others wait for this lock. */
const TEMPLATE_LOCK = 4_711_001

function withDatabase(url: string, database: string): string {
  const changed = new URL(url)
  changed.pathname = `/${database}`
  return changed.href
}

/** Names a template after what the migrations say, so that a changed migration makes a new one. */
function templateName(): string {
  const folder = path.join(repositoryRoot, 'prisma/migrations')
  const hash = createHash('sha256')
  for (const name of fs.readdirSync(folder).sort()) {
    const file = path.join(folder, name, 'migration.sql')
    if (fs.existsSync(file)) hash.update(name).update(fs.readFileSync(file))
  }
  return `slipway_template_${hash.digest('hex').slice(0, 12)}`
}

async function ensureTemplate(admin: pg.Client): Promise<string> {
  const name = templateName()
  await admin.query('SELECT pg_advisory_lock($1)', [TEMPLATE_LOCK])
  try {
    const { rowCount } = await admin.query('SELECT 1 FROM pg_database WHERE datname = $1', [name])
    if (rowCount === 0) {
      const making = `${name}_making`
      await admin.query(`DROP DATABASE IF EXISTS ${making} WITH (FORCE)`)
      await admin.query(`CREATE DATABASE ${making}`)
      execFileSync(process.execPath, ['packages/database/scripts/migrate.mjs', 'deploy'], {
        cwd: repositoryRoot,
        env: { ...process.env, DATABASE_URL: withDatabase(serverUrl('DATABASE_URL'), making) },
        stdio: ['ignore', 'ignore', 'inherit'],
      })
      await admin.query(`ALTER DATABASE ${making} RENAME TO ${name}`)
    }
  } finally {
    await admin.query('SELECT pg_advisory_unlock($1)', [TEMPLATE_LOCK])
  }
  return name
}

/** A migrated, empty database of its own: a clone of a template, which takes a fraction of a second. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const admin = new pg.Client(serverUrl('DATABASE_URL'))
  await admin.connect()
  const name = `slipway_test_${randomBytes(6).toString('hex')}`
  try {
    const template = await ensureTemplate(admin)
    await admin.query(`CREATE DATABASE ${name} TEMPLATE ${template}`)
  } finally {
    await admin.end()
  }
  return {
    url: withDatabase(serverUrl('DATABASE_URL'), name),
    async drop() {
      const client = new pg.Client(serverUrl('DATABASE_URL'))
      await client.connect()
      await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
      await client.end()
    },
  }
}
