import type { Database } from '@slipway/database'
import { appendLinks, findLastNumber, findLateRecords, findNewRecords, lockChain } from './chain.sql.ts'
import { type ChainHead, chainHead, linkHash, settledNumber } from './chain.ts'

const BATCH = 2_000

export interface LinkOptions {
  /**
   * Looks also for records whose number is below the last one linked: numbers are taken before commit, so that one may
   * appear late. Costs a look at the last minutes' records.
   */
  late: boolean
  batch?: number
}

/**
 * Appends records that are not linked yet, in the order of their numbers, and returns the new head of the chain and how
 * many there were. Null when another process is doing it.
 */
export async function linkAudit(
  database: Pick<Database, 'transaction'>,
  { late, batch = BATCH }: LinkOptions,
): Promise<(ChainHead & { linked: number; more: boolean }) | null> {
  return database.transaction(async (tx) => {
    if (!(await lockChain.one(tx)).locked) return null
    // Read under the lock: whoever held it before has committed.
    let { position, hash } = await chainHead(tx)
    const records = late
      ? await findLateRecords.all(tx, { after: await settledNumber(tx), limit: batch })
      : await findNewRecords.all(tx, { after: (await findLastNumber.one(tx)).number, limit: batch })
    const links = records.map(({ number, canonical }) => {
      position += 1
      hash = linkHash(hash, canonical)
      return { position, number, hash }
    })
    await appendLinks.runRows(tx, links)
    return { position, hash, linked: links.length, more: links.length === batch }
  })
}
