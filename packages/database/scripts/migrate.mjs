// deploy | schema | status | drift | create NAME — Prisma's migrations without its native engine, which only a download brings.
// `deploy` migrates and gives the roles of the services their rights. `schema` only migrates.
// Same table (`_prisma_migrations`) and checksums as `prisma migrate deploy`, so either can follow the other.
import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { PrismaPg } from '@prisma/adapter-pg'
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils'
import pg from 'pg'

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../..')
const migrationsDir = path.join(root, 'prisma/migrations')
const schemaPath = path.join(root, 'prisma/schema.prisma')
const schema = fs.readFileSync(schemaPath, 'utf8')
const lockFile = { path: 'migration_lock.toml', content: 'provider = "postgresql"\n' }
const filters = { externalTables: [], externalEnums: [] }
const url = process.env.DATABASE_URL

async function loadEngine() {
  // The package's own entry imports .wasm as a module, which Node 20 cannot.
  const entry = createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm/schema_engine_bg')
  const bindings = await import(pathToFileURL(entry).href)
  const wasm = fs.readFileSync(entry.replace(/\.js$/, '.wasm'))
  const { instance } = await WebAssembly.instantiate(wasm, { './schema_engine_bg.js': bindings })
  bindings.__wbg_set_wasm(instance.exports)
  instance.exports.__wbindgen_start?.()
  return bindings.SchemaEngine
}

/** Mends two defects of the adapter that only migrations meet. */
function mendAdapter(adapter) {
  const performIO = adapter.performIO.bind(adapter)
  adapter.performIO = async (query) => {
    const result = await performIO(query)
    // "char" (oid 18), which introspection reads, is refused: call it text.
    for (const field of result.fields ?? []) if (field.dataTypeID === 18) field.dataTypeID = 25
    // The engine panics at CHECK constraints, which the schema cannot express anyway.
    if (result.fields?.some((field) => field.name === 'constraint_type')) {
      result.rows = result.rows.filter((row) => !Object.values(row).some((value) => String(value).startsWith('CHECK')))
    }
    return result
  }
  // It would split a script at every ';', function bodies and strings included.
  adapter.executeScript = async (sql) => {
    try {
      await adapter.client.query(sql)
    } catch (error) {
      adapter.onError(error)
    }
  }
  return adapter
}

async function openEngine(connectionString) {
  const SchemaEngine = await loadEngine()
  // Migrations may move the rows of every tenant.
  const base = new PrismaPg({ connectionString, options: '-c slipway.tenant=*' })
  const factory = {
    provider: base.provider,
    adapterName: base.adapterName,
    connect: async () => mendAdapter(await base.connect()),
    connectToShadowDb: async () => mendAdapter(await base.connectToShadowDb()),
  }
  return SchemaEngine.new(
    { datamodels: [[schemaPath, schema]] },
    () => {},
    bindMigrationAwareSqlAdapterFactory(factory),
  )
}

function migrations() {
  const entries = fs.existsSync(migrationsDir) ? fs.readdirSync(migrationsDir, { withFileTypes: true }) : []
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
  const read = (name) => fs.readFileSync(path.join(migrationsDir, name, 'migration.sql'), 'utf8')
  return {
    baseDir: migrationsDir,
    lockfile: lockFile,
    shadowDbInitScript: '',
    migrationDirectories: names.sort().map((name) => ({
      path: name,
      migrationFile: { path: 'migration.sql', content: { tag: 'ok', value: read(name) } },
    })),
  }
}

/** What the schema has and the migrations have not. The engine replays them, so it gets a scratch database. */
async function difference() {
  const name = `shadow_${randomBytes(6).toString('hex')}`
  const admin = new pg.Client(url)
  await admin.connect()
  await admin.query(`CREATE DATABASE ${name}`)
  try {
    const scratch = new URL(url)
    scratch.pathname = `/${name}`
    const engine = await openEngine(scratch.href)
    return await engine.diff({
      from: { tag: 'migrations', ...migrations() },
      to: { tag: 'schemaDatamodel', files: [{ path: schemaPath, content: schema }] },
      script: true,
      exitCode: true,
      shadowDatabaseUrl: null,
      filters,
    })
  } finally {
    await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
    await admin.end()
  }
}

const print = (value) => console.log(JSON.stringify(value))

/** The rights come after the migrations: a role that exists gets what the new schema demands, and nothing else. */
async function grant() {
  const { applyGrants, openToPublic } = await import('../dist/roles/grants.js')
  const client = new pg.Client(url)
  await client.connect()
  try {
    const granted = await applyGrants(client, process.env.SLIPWAY_ROLE_PREFIX || undefined)
    for (const sentence of await openToPublic(client)) console.error(sentence)
    return granted
  } finally {
    await client.end()
  }
}

/** @throws Error if the database was made before the baseline: its migrations would be applied to tables that exist */
async function requireHistory() {
  const { findHistoryProblem } = await import('../dist/history.js')
  const client = new pg.Client(url)
  await client.connect()
  try {
    const problem = await findHistoryProblem(client)
    if (problem !== null) throw new Error(`DATABASE_URL ${problem}`)
  } finally {
    await client.end()
  }
}

async function migrate() {
  await requireHistory()
  const engine = await openEngine(url)
  const result = await engine.applyMigrations({ migrationsList: migrations(), filters })
  return result.appliedMigrationNames
}

const commands = {
  async deploy() {
    print({ applied: await migrate(), granted: await grant() })
  },
  async schema() {
    print({ applied: await migrate() })
  },
  async status() {
    const engine = await openEngine(url)
    print(
      await engine.diagnoseMigrationHistory({ migrationsList: migrations(), optInToShadowDatabase: false, filters }),
    )
  },
  /** Exit code 2 when the schema is ahead of the migrations. */
  async drift() {
    const result = await difference()
    process.stdout.write(result.stdout ?? '')
    process.exitCode = result.exitCode
  },
  async create(name) {
    if (!/^[a-z0-9_]+$/.test(name ?? '')) throw new Error('usage: migrate.mjs create NAME (lower case, digits, _)')
    const result = await difference()
    if (result.exitCode === 0) return print({ created: null })
    const directory = `${new Date().toISOString().replace(/\D/g, '').slice(0, 14)}_${name}`
    fs.mkdirSync(path.join(migrationsDir, directory), { recursive: true })
    fs.writeFileSync(path.join(migrationsDir, directory, 'migration.sql'), result.stdout)
    fs.writeFileSync(path.join(migrationsDir, lockFile.path), lockFile.content)
    print({ created: directory })
  },
}

const [command = 'deploy', ...rest] = process.argv.slice(2)
try {
  if (!url) throw new Error('DATABASE_URL is not set (example: postgresql://slipway@127.0.0.1:5432/slipway)')
  if (!(command in commands))
    throw new Error(`unknown command ${command}; there are: ${Object.keys(commands).join(', ')}`)
  await commands[command](...rest)
} catch (error) {
  console.error(error?.code ?? '', error?.message ?? error)
  process.exitCode = 1
}
process.exit()
