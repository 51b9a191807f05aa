import type { Database, Queryable } from '@slipway/database'
import { LOCK_KEYS } from '@slipway/database'
import { CANONICAL, type ChainHead, chainStart, linkHash } from './chain.ts'

const BATCH = 5_000

/** The old end of the audit log, up to and with `head`. */
export interface OldAudit {
  head: ChainHead
  records: number
}

interface Link {
  position: number
  hash: string
  canonical: string | null
  old: boolean
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
    await tx.query(`SELECT pg_advisory_xact_lock(${LOCK_KEYS.auditDrop})`)
    const { head, records } = await nextOld(tx, await chainStart(tx), days, batch)
    if (records === 0) return 0
    await tx.query('SELECT drop_audit($1, $2)', [head.position, days])
    return records
  })
}

async function nextOld(db: Queryable, start: ChainHead, days: number, limit: number): Promise<OldAudit> {
  const { rows } = await db.query<Link>(
    `SELECT l.position, l.hash, CASE WHEN r.number IS NOT NULL THEN ${CANONICAL} END AS canonical,
            coalesce(r.at < now() - make_interval(days => $3), true) AS old
       FROM (SELECT * FROM audit_links
              WHERE position > $1 AND position < (SELECT max(position) FROM audit_links)
              ORDER BY position LIMIT $2) l
       LEFT JOIN audit_records r ON r.number = l.record_number
      ORDER BY l.position`,
    [start.position, limit, days],
  )
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
