import { type AuditEntry, recordAudit } from '@slipway/audit'
import type { Database } from '@slipway/database'
import type { Logger } from '@slipway/runtime'

/** Writes records of refusals: outside of any transaction, because what was refused has none. */
export interface RefusalLog {
  /**
   * Writes the record, unless its call has left one. Resolves when it is stored; one that cannot be stored goes to the
   * log of the process with all it holds.
   */
  write(entry: AuditEntry): Promise<void>
  /** Writes the record to the log of the process at once: the database is known to be away. */
  note(entry: AuditEntry): void
  /** Writes the record by itself; false when its call has left one. */
  claim(entry: AuditEntry): Promise<boolean>
}

interface UnwrittenRefusal {
  entry: AuditEntry
  done(): void
}

/** Records of one statement at most. */
const BATCH = 200

/**
 * Every refusal waits for its record, so none is lost, and all that wait at a time share one statement: a flood of them
 * takes one connection and not the pool.
 */
export function createRefusalLog(database: Pick<Database, 'query'>, logger: Logger): RefusalLog {
  const waiting: UnwrittenRefusal[] = []
  let writing = false

  const note = (error: unknown, audit: AuditEntry[]) =>
    logger.error('refusals could not be written to the audit log', { error, audit })

  async function store(entries: AuditEntry[]): Promise<void> {
    try {
      await recordAudit(database, entries)
    } catch (error) {
      note(error, entries)
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
