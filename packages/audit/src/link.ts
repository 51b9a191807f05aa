import type { Database, Queryable } from '@slipway/database'
import { LOCK_KEYS } from '@slipway/database'
import { CANONICAL, type ChainHead, chainHead, linkHash, NOT_LINKED, settledNumber } from './chain.ts'

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
    const { rows } = await tx.query<{ locked: boolean }>(
      `SELECT pg_try_advisory_xact_lock(${LOCK_KEYS.auditChain}) AS locked`,
      [],
    )
    if (!rows[0]?.locked) return null
    // Read under the lock: whoever held it before has committed.
    let { position, hash } = await chainHead(tx)
    const records = await unlinked(tx, late, batch)
    const links = records.map(({ number, canonical }) => {
      position += 1
      hash = linkHash(hash, canonical)
      return { position, number, hash }
    })
    if (links.length > 0) {
      await tx.query(
        `INSERT INTO audit_links (position, record_number, hash) SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[])`,
        [links.map((link) => link.position), links.map((link) => link.number), links.map((link) => link.hash)],
      )
    }
    return { position, hash, linked: links.length, more: links.length === batch }
  })
}

async function unlinked(tx: Queryable, late: boolean, limit: number): Promise<{ number: number; canonical: string }[]> {
  const after = late ? await settledNumber(tx) : await lastNumber(tx)
  const { rows } = await tx.query<{ number: number; canonical: string }>(
    `SELECT r.number, ${CANONICAL} AS canonical FROM audit_records r
      WHERE r.number > $1 ${late ? `AND ${NOT_LINKED}` : ''}
      ORDER BY r.number LIMIT $2`,
    [after, limit],
  )
  return rows
}

async function lastNumber(tx: Queryable): Promise<number> {
  const { rows } = await tx.query<{ last: number }>('SELECT coalesce(max(record_number), 0) AS last FROM audit_links')
  return rows[0]?.last ?? 0
}
