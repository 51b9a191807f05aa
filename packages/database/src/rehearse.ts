import { attempt, type Database, type Transaction } from './database.ts'
import { statement } from './sql/statement.ts'
import { text } from './sql/types.ts'

/** A rehearsal must not wait long for rows that real writes hold. */
const boundLocks = statement({
  name: 'database.rehearse.bound-locks',
  row: { set_config: text },
  sql: `SELECT set_config('lock_timeout', '500ms', true)`,
})

/**
 * Runs work on a database on which every transaction is a part of one, and rolls that back: the work meets all checks of the real
 * writes and changes nothing. Only the numbers of short ids leave gaps, as those of failed writes do.
 */
export async function rehearse<T>(
  database: Database,
  work: (rehearsal: Database, tx: Transaction) => Promise<T>,
): Promise<T> {
  class Rehearsed extends Error {
    readonly result: T

    constructor(result: T) {
      super('rolled back')
      this.result = result
    }
  }
  // Loads Prisma, if this is its first use: Postgres would end a transaction that waits for that on a busy machine.
  await database.prisma()
  try {
    return await database.transaction<never>(async (tx) => {
      await boundLocks.run(tx)
      const rehearsal = { query: tx.query, prisma: tx.prisma, isRehearsal: true }
      throw new Rehearsed(await work(partOf(database, rehearsal), rehearsal))
    })
  } catch (error) {
    if (error instanceof Rehearsed) return error.result
    throw error
  }
}

const partOf = (database: Database, tx: Transaction): Database => ({
  ...database,
  query: tx.query,
  prisma: tx.prisma,
  transaction: (work) => attempt(tx, (connection) => work({ ...tx, query: connection.query })),
  // It sees the transaction as it is now. Nothing else can change what the transaction has written.
  snapshot: (work) => work(tx),
  together: (work) => work(tx),
})
