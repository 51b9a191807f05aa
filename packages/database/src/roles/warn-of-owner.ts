import { setTimeout } from 'node:timers/promises'
import type { Logger } from '@slipway/runtime'
import type { Database } from '../database.ts'
import { type Queryable, statement } from '../sql/statement.ts'
import { bool } from '../sql/types.ts'

const ownsTables = statement({
  name: 'database.roles.owns-tables',
  row: { owns: bool },
  sql: `SELECT EXISTS (SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
                         AND pg_has_role(relowner, 'USAGE')) AS owns`,
})

/** Whether the user of the connection bypasses row-level security. */
const bypassesPolicies = statement({
  name: 'database.roles.bypasses-policies',
  row: { bypasses: bool },
  sql: 'SELECT rolsuper OR rolbypassrls AS bypasses FROM pg_roles WHERE rolname = current_user',
})

const AGAIN_MS = 2_000

/**
 * Logs a warning if this process connects as the owner of the tables, as in an installation with one database user. Retries in
 * the background until Postgres answers, because the start must not wait.
 */
export function warnOfOwner(database: Pick<Database, 'query' | 'pool'>, logger: Logger): void {
  void askUntilAnswered(database, logger)
}

async function askUntilAnswered(database: Pick<Database, 'query' | 'pool'>, logger: Logger): Promise<void> {
  while (!database.pool.ended) {
    try {
      if ((await ownsTables.one(database)).owns) {
        logger.warn(
          'the user of DATABASE_URL owns the tables of Slipway, so this process can remove their policies and triggers: ' +
            'give it the role of its service, see "Users of Postgres" in docs/operations.md',
        )
      }
      return
    } catch {
      await setTimeout(AGAIN_MS, undefined, { ref: false })
    }
  }
}

/** Logs a warning if the user of the database bypasses row-level security. */
export async function warnWithoutRowLevelSecurity(db: Queryable, logger: Logger): Promise<void> {
  if ((await bypassesPolicies.one(db)).bypasses) {
    logger.warn(
      'the user of DATABASE_URL bypasses row-level security, so only the gateway separates tenants: ' +
        'use a user without SUPERUSER and BYPASSRLS',
    )
  }
}
