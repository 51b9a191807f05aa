import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createDatabase, type Database } from '@slipway/database'
import { createLogger, type Logger, randomToken } from '@slipway/runtime'

const run = promisify(execFile)
const MIGRATE = fileURLToPath(new URL('../../../packages/database/scripts/migrate.mjs', import.meta.url))

const required = (name: string): string => {
  const value = process.env[name]
  if (!value) throw new Error(`${name} is not set: run \`scripts/infra.sh up\``)
  return value
}

export interface TestDatabase {
  database: Database
  drop(): Promise<void>
}

const suffix = () =>
  randomToken(6)
    .replace(/[^A-Za-z0-9]/g, '')
    .toLowerCase()

/** A migrated database of this test file's own. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const url = new URL(required('DATABASE_URL'))
  const admin = createDatabase({ url: url.href, applicationName: 'test', max: 1, tenant: '*' })
  const name = `slipway_test_${suffix()}`
  await admin.query(`CREATE DATABASE ${name}`)
  url.pathname = `/${name}`
  await run(process.execPath, [MIGRATE, 'deploy'], { env: { ...process.env, DATABASE_URL: url.href } })
  const database = createDatabase({ url: url.href, applicationName: 'test', max: 30, tenant: '*' })
  return {
    database,
    async drop() {
      await database.close()
      await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
      await admin.close()
    },
  }
}

export const testNamespace = () => `test-${suffix()}`
export const rabbitUrl = () => required('RABBITMQ_URL')

/** Only what must not happen is written. */
export const testLogger = (): Logger => createLogger({ service: 'test', level: 'error' })

/** Waits until the condition holds; fails with the last value seen. */
export async function until<T>(what: string, look: () => Promise<T> | T, holds: (value: T) => boolean): Promise<T> {
  const end = Date.now() + 15_000
  for (;;) {
    const value = await look()
    if (holds(value)) return value
    if (Date.now() > end) throw new Error(`${what} did not happen; last seen: ${JSON.stringify(value)}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
