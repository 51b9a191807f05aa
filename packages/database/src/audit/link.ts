import type { Database } from '../database.ts'
import type { Queryable } from '../sql/statement.ts'
import { appendLinks, findLastNumber, findLateRecords, findNewRecords, isAnyNew, lockChain } from './chain.sql.ts'
import { type ChainHead, chainHead, linkHash, settledNumber } from './chain.ts'

const BATCH = 2_000

export interface LinkOptions {
  /**
   * Links also records with lower numbers than the last linked one: a transaction may commit after one with a higher number. This
   * reads the records of the last minutes.
   */
  late: boolean
  batch?: number
}

/** Whether there are records with higher numbers than the last linked one. */
export async function hasNewRecords(database: Queryable): Promise<boolean> {
  return (await isAnyNew.one(database)).any
}

/** Appends unlinked records to the chain, in the order of their numbers. Returns null if another process is doing so. */
export async function linkAudit(
  database: Pick<Database, 'transaction'>,
  { late, batch = BATCH }: LinkOptions,
): Promise<(ChainHead & { linked: number; more: boolean }) | null> {
  return database.transaction(async (tx) => {
    if (!(await lockChain.one(tx)).locked) return null
    // Read under the lock, so the links of the previous holder are visible.
    let { position, hash } = await chainHead(tx)
    const records = late
      ? await findLateRecords.all(tx, { after: await settledNumber(tx), limit: batch })
      : await findNewRecords.all(tx, { after: (await findLastNumber.one(tx)).number, limit: batch })
    const links = records.map(({ number, canonical }) => {
      position += 1
      hash = linkHash(hash, canonical)
      return { position, record_number: number, hash }
    })
    await appendLinks.runRows(tx, links)
    return { position, hash, linked: links.length, more: links.length === batch }
  })
}
