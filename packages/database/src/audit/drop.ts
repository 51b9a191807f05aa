import type { Database } from '../database.ts'
import type { Queryable } from '../sql/statement.ts'
import { dropUpTo, findOldLinks, lockDrop } from './chain.sql.ts'
import { type ChainHead, chainStart, linkHash } from './chain.ts'

const BATCH = 5_000

/** The oldest records of the audit log, up to and including `head`. */
interface OldAudit {
  head: ChainHead
  records: number
}

/** Counts the records that are older than `days`, without the last link of the chain, which always stays. */
export async function countOldAudit(db: Queryable, days: number, batch = BATCH): Promise<number> {
  let records = 0
  for (let start = await chainStart(db); ; ) {
    const old = await nextOld(db, start, days, batch)
    records += old.records
    if (old.records < batch) return records
    start = old.head
  }
}

/**
 * Drops a batch of the oldest records with their links. The same transaction writes an audit record with the new start of the
 * chain. Returns the number of dropped records.
 * @throws Error if a record does not match the chain: the evidence must stay
 */
export async function dropOldAudit(
  database: Pick<Database, 'transaction'>,
  days: number,
  batch = BATCH,
): Promise<number> {
  return database.transaction(async (tx) => {
    await lockDrop.run(tx)
    const { head, records } = await nextOld(tx, await chainStart(tx), days, batch)
    if (records === 0) return 0
    await dropUpTo.run(tx, { position: head.position, days })
    return records
  })
}

async function nextOld(db: Queryable, start: ChainHead, days: number, limit: number): Promise<OldAudit> {
  const rows = await findOldLinks.all(db, { after: start.position, limit, days })
  let head = start
  for (const { position, hash, canonical, old } of rows) {
    if (!old) break
    if (canonical === null || position !== head.position + 1 || linkHash(head.hash, canonical) !== hash) {
      throw new Error(`The audit log is broken at position ${position}: nothing was dropped; run audit-verify`)
    }
    head = { position, hash }
  }
  return { head, records: head.position - start.position }
}
