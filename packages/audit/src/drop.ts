import type { Database, Queryable } from '@slipway/database'
import { dropUpTo, findOldLinks, lockDrop } from './chain.sql.ts'
import { type ChainHead, chainStart, linkHash } from './chain.ts'

const BATCH = 5_000

/** The old end of the audit log, up to and with `head`. */
export interface OldAudit {
  head: ChainHead
  records: number
}

/** How many records are older than so many days; the last one of the chain stays, however old. */
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
 * Drops the oldest records, at most a batch, and their links. In the same transaction, a record of the log says where the
 * chain begins from then on. Returns the number of dropped records.
 * @throws Error where a record is not what the chain says: that must be looked into, not dropped
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
      throw new Error(`The audit log is broken at position ${position}: nothing is dropped before that is looked into`)
    }
    head = { position, hash }
  }
  return { head, records: head.position - start.position }
}
