import { type Database, isBusy } from '@slipway/database'
import { type AuditEntry, recordAudit } from '@slipway/database/audit'
import type { Logger } from '@slipway/runtime'

/** Writes audit records of refused calls, outside of the transaction of the call, because that is rolled back. */
export interface RefusalLog {
  /** Stores the record, unless the call has one already. If Postgres fails, the record goes to the log of the process. */
  write(entry: AuditEntry): Promise<void>
  /** Writes the record to the log of the process, because the database cannot be reached. */
  note(entry: AuditEntry): void
  /** Stores the record in a statement of its own. Returns false if the call has a record already. */
  claim(entry: AuditEntry): Promise<boolean>
}

interface UnwrittenRefusal {
  entry: AuditEntry
  done(): void
}

/** The most records in one statement. */
const BATCH = 200
/** Calls are refused because the pool has no free connection. Then the record waits for one as well. */
const ATTEMPTS = 4

/** Refusals that wait share one statement: a flood of them must not take all connections of the pool. */
export function createRefusalLog(database: Pick<Database, 'query'>, logger: Logger): RefusalLog {
  const waiting: UnwrittenRefusal[] = []
  let writing = false

  const note = (error: unknown, audit: AuditEntry[]) =>
    logger.error('refusals could not be written to the audit log', { error, audit })

  async function store(entries: AuditEntry[]): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await recordAudit(database, entries)
        return
      } catch (error) {
        if (attempt < ATTEMPTS && isBusy(error)) continue
        return note(error, entries)
      }
    }
  }

  async function writeAll(): Promise<void> {
    writing = true
    while (waiting.length > 0) {
      const batch = waiting.splice(0, BATCH)
      await store(batch.map(({ entry }) => entry))
      for (const { done } of batch) done()
    }
    writing = false
  }

  return {
    write: (entry) =>
      new Promise((done) => {
        waiting.push({ entry, done })
        if (!writing) void writeAll()
      }),
    note: (entry) => note('the database cannot be reached', [entry]),
    claim: async (entry) => (await recordAudit(database, [entry])) === 1,
  }
}
