import { type Database, Quarantine } from '@slipway/database'
import { countOldAudit, dropOldAudit } from '@slipway/database/audit'
import type { Logger } from '@slipway/runtime'
import { countOldDeployments, dropOldDeployments } from './deployments.ts'
import type { DropOptions } from './drop.ts'
import { dropOldDays, type OldDay } from './lines.ts'
import { countOldResults, dropOldResults } from './results.ts'
import { findDays, releaseRetentionLock, takeRetentionLock } from './retention.sql.ts'
import type { RetentionRules } from './settings.ts'

/** What the rules would drop now. */
export interface Droppable {
  days: OldDay[]
  results: number
  deployments: number
  steps: number
  requests: number
  auditRecords: number
}

export async function findDroppable(database: Database, rules: RetentionRules): Promise<Droppable> {
  const { logDays, resultDays, deploymentDays, auditDays, keepDeployments } = rules
  const none = { deployments: 0, steps: 0, requests: 0 }
  return {
    days: logDays === null ? [] : await findDays.all(database, { days: logDays }),
    results: resultDays === null ? 0 : await countOldResults(database, resultDays),
    ...(deploymentDays === null
      ? none
      : await countOldDeployments(database, { days: deploymentDays, keep: keepDeployments })),
    auditRecords: auditDays === null ? 0 : await countOldAudit(database, auditDays),
  }
}

/** How much was dropped. Null if another process is running retention. */
export interface Dropped {
  days: number
  results: number
  deployments: number
  auditRecords: number
}

interface RetainOptions {
  database: Database
  rules: RetentionRules
  logger: Logger
  /** Stops the work early. The next run continues. */
  signal: AbortSignal
}

/**
 * Drops old data. Only one process at a time runs it. A kind of record, or a row, that cannot be dropped does not stop the
 * others; the next run retries it.
 */
export async function retain({ database, rules, logger, signal }: RetainOptions): Promise<Dropped | null> {
  const turn = await takeTurn(database)
  if (turn === null) return null
  const { logDays, resultDays, deploymentDays, auditDays, keepDeployments } = rules
  const quarantine = new Quarantine({ task: 'retention', logger })
  const options: DropOptions = { database, signal, logger, quarantine }
  const drops: Record<keyof Dropped, (() => Promise<number>) | null> = {
    days: logDays === null ? null : () => dropOldDays(options, logDays),
    deployments:
      deploymentDays === null
        ? null
        : () => dropOldDeployments(options, { days: deploymentDays, keep: keepDeployments }),
    results: resultDays === null ? null : () => dropOldResults(database, resultDays, signal),
    auditRecords: auditDays === null ? null : () => dropAllOldAudit(database, auditDays, signal),
  }
  try {
    const dropped: Dropped = { days: 0, deployments: 0, results: 0, auditRecords: 0 }
    const kinds = ['days', 'deployments', 'results', 'auditRecords'] as const
    await quarantine.each(
      kinds,
      (kind) => kind,
      async (kind) => {
        dropped[kind] = (await drops[kind]?.()) ?? 0
      },
    )
    if (Object.values(dropped).some((count) => count > 0)) logger.info('retention dropped old data', { ...dropped })
    return dropped
  } finally {
    await turn.end()
  }
}

async function dropAllOldAudit(database: Database, days: number, signal: AbortSignal): Promise<number> {
  let dropped = 0
  for (let count = 1; count > 0 && !signal.aborted; dropped += count) count = await dropOldAudit(database, days)
  return dropped
}

/** Takes a lock that belongs to one connection, so it ends if the process dies. */
async function takeTurn(database: Database): Promise<{ end(): Promise<void> } | null> {
  const connection = await database.pool.connect()
  try {
    const { locked } = await takeRetentionLock.one(connection)
    if (!locked) {
      connection.release()
      return null
    }
  } catch (error) {
    connection.release(true)
    throw error
  }
  return {
    async end() {
      // Even if this fails, closing the connection releases the lock.
      await releaseRetentionLock.run(connection).catch(() => {})
      connection.release(true)
    },
  }
}
