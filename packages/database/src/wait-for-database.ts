import { ConfigurationError, type ServiceContext, sleep } from '@slipway/runtime'
import type { Database } from './database.ts'
import { sqlState } from './failures.ts'
import { NEWEST_MIGRATION } from './generated/newest-migration.ts'
import { BEFORE_MIGRATIONS, findHistoryProblem } from './history.ts'
import { statement } from './sql/statement.ts'
import { bool, text } from './sql/types.ts'

const isApplied = statement({
  name: 'database.migrations.is-applied',
  parameters: { name: text },
  row: { applied: bool },
  sql: `SELECT EXISTS (SELECT FROM _prisma_migrations
      WHERE migration_name = :name AND finished_at IS NOT NULL AND rolled_back_at IS NULL) AS applied`,
})

const AGAIN_MS = 500
/** Time between two log lines with the same reason. */
const REPORT_MS = 10_000

/**
 * Waits without limit until Postgres answers and has the migrations of this version, then runs `prepare`. Retries after every
 * failure except wrong configuration. Readiness names the missing part: `database` or `migrations`.
 * @throws ConfigurationError if the database was made before the baseline
 * @throws Error if the service is told to stop
 */
export async function waitForDatabase(
  database: Pick<Database, 'query' | 'isUp'>,
  { health, logger, signal }: Pick<ServiceContext<unknown>, 'health' | 'logger' | 'signal'>,
  prepare = async () => {},
): Promise<void> {
  let isMigrated = false
  health.check('database', () => database.isUp())
  health.check('migrations', () => isMigrated)
  let reported = { reason: '', at: 0 }
  while (!signal.aborted) {
    try {
      isMigrated = await hasNewestMigration(database)
      if (isMigrated) return await prepare()
      const problem = await findHistoryProblem(database)
      if (problem !== null) throw new ConfigurationError([{ variable: 'DATABASE_URL', problem }])
      throw new Error(
        `the migration ${NEWEST_MIGRATION} was not applied, or this role has no rights: run the migrations of this version`,
      )
    } catch (error) {
      if (error instanceof ConfigurationError) throw error
      const { message, code } = error as { message: string; code?: string }
      // Errors about several addresses of one host name have no message.
      const reason = message || String(code)
      if (reason !== reported.reason || performance.now() - reported.at > REPORT_MS) {
        logger.warn('the database is not ready yet, trying again', { reason })
        reported = { reason, at: performance.now() }
      }
    }
    await sleep(AGAIN_MS, signal)
  }
  throw new Error('The service was told to stop before the database was ready')
}

async function hasNewestMigration(database: Pick<Database, 'query'>): Promise<boolean> {
  try {
    return (await isApplied.one(database, { name: NEWEST_MIGRATION })).applied
  } catch (error) {
    if (BEFORE_MIGRATIONS.has(sqlState(error) ?? '')) return false
    throw error
  }
}
