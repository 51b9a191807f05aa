import { createHash } from 'node:crypto'
import type { Queryable } from '@slipway/database'

/** What the first link has before it. */
const CHAIN_START = '0'.repeat(64)

/**
 * All of a record `r` as one text that is always written the same way: a JSON array of texts in this order. The database
 * makes it, because only there are details and times exactly what is stored.
 */
export const CANONICAL = `json_build_array(
  r.number::text, r.id::text, to_char(r.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), r.actor_id::text,
  r.actor_name, r.actor_ip, r.action, r.resource_type, r.resource_id, r.tenant_id::text, r.request_id,
  r.details::text)::text`

/** The hash of a link: over the link before it and the record. */
export const linkHash = (previous: string, canonical: string): string =>
  createHash('sha256').update(previous).update('\n').update(canonical).digest('hex')

/** The last link, which vouches for all before it. */
export interface ChainHead {
  position: number
  hash: string
}

/** Says in a record of the log that retention dropped all up to a link: its position and hash are in the details. */
const DROP_ACTION = 'audit.drop'

/** The link before the first one that is kept. */
export async function chainStart(db: Queryable): Promise<ChainHead> {
  const { rows } = await db.query<ChainHead>(
    `SELECT (details ->> 'position')::bigint AS position, details ->> 'hash' AS hash
       FROM audit_records WHERE action = '${DROP_ACTION}' ORDER BY 1 DESC LIMIT 1`,
  )
  return rows[0] ?? { position: 0, hash: CHAIN_START }
}

export async function chainHead(db: Queryable): Promise<ChainHead> {
  const { rows } = await db.query<ChainHead>('SELECT position, hash FROM audit_links ORDER BY position DESC LIMIT 1')
  return rows[0] ?? { position: 0, hash: CHAIN_START }
}

/**
 * How long a transaction may take from writing its record to its commit and still find the record linked. Far more than
 * the timeouts of statements and of idle transactions allow.
 */
const LATE_COMMIT = '5 minutes'

/**
 * Records up to this number are linked, or never will be: whoever put one there afterwards did it behind the chain's
 * back. Asked for by itself, because only a number that is known lets Postgres see how few lie above it.
 */
export async function settledNumber(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ number: number }>(
    `SELECT r.number FROM audit_records r JOIN audit_links l ON l.record_number = r.number
      WHERE r.at < (SELECT h.at FROM audit_records h
                     WHERE h.number = (SELECT record_number FROM audit_links ORDER BY position DESC LIMIT 1))
                  - interval '${LATE_COMMIT}'
      ORDER BY r.at DESC, r.number DESC LIMIT 1`,
  )
  return rows[0]?.number ?? 0
}

export const NOT_LINKED = 'NOT EXISTS (SELECT FROM audit_links l WHERE l.record_number = r.number)'

/**
 * How many records there are, exactly and without counting them: the chain's first and last position say how many are in
 * it, and only those of the last moments may not be.
 */
export async function auditCount(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ total: number }>(
    `SELECT coalesce((SELECT max(position) FROM audit_links), 0) - audit_dropped()
            + (SELECT count(*) FROM audit_records r WHERE r.number > $1 AND ${NOT_LINKED}) AS total`,
    [await settledNumber(db)],
  )
  return rows[0]?.total ?? 0
}
