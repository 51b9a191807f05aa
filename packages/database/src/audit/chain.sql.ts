import { LOCK_KEYS } from '../lock-keys.ts'
import { insertion, statement } from '../sql/statement.ts'
import { bool, int4, int8, nullable, text } from '../sql/types.ts'

/**
 * SQL: the canonical text of a record `r`, a JSON array of texts in this order. The database builds the text, because a client
 * would lose precision of times and the stored form of details.
 */
const CANONICAL = `json_build_array(
    r.number::text, r.id::text, to_char(r.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), r.actor_id::text,
    r.actor_name, r.actor_ip, r.action, r.resource_type, r.resource_id, r.tenant_id::text, r.request_id,
    r.details::text)::text`

const NOT_LINKED = 'NOT EXISTS (SELECT FROM audit_links l WHERE l.record_number = r.number)'

/** The last link that retention dropped. A record of the audit log holds it in its details. */
export const findDropped = statement({
  name: 'database.audit-chain.find-dropped',
  row: { position: int8, hash: text },
  sql: `SELECT (details ->> 'position')::bigint AS position, details ->> 'hash' AS hash
      FROM audit_records WHERE action = 'audit.drop' ORDER BY 1 DESC LIMIT 1`,
})

export const findHead = statement({
  name: 'database.audit-chain.find-head',
  row: { position: int8, hash: text },
  sql: 'SELECT position, hash FROM audit_links ORDER BY position DESC LIMIT 1',
})

/**
 * The settled number: every record up to it is linked. An unlinked record below it was inserted outside of Slipway. A record is
 * settled after five minutes, which is longer than the timeouts allow between writing a record and its commit.
 */
export const findSettled = statement({
  name: 'database.audit-chain.find-settled',
  row: { number: int8 },
  sql: `SELECT r.number FROM audit_records r JOIN audit_links l ON l.record_number = r.number
     WHERE r.at < (SELECT h.at FROM audit_records h
                    WHERE h.number = (SELECT record_number FROM audit_links ORDER BY position DESC LIMIT 1))
                  - interval '5 minutes'
     ORDER BY r.at DESC, r.number DESC LIMIT 1`,
})

/**
 * The number of records without a full count: the position of the last link, plus the unlinked records after the settled number.
 */
export const countRecords = statement({
  name: 'database.audit-chain.count-records',
  parameters: { settled: int8 },
  row: { total: int8 },
  sql: `SELECT coalesce((SELECT max(position) FROM audit_links), 0) - audit_dropped()
      + (SELECT count(*) FROM audit_records r WHERE r.number > :settled AND ${NOT_LINKED}) AS total`,
})

/** Tries to lock the chain: only one transaction at a time may append links. */
export const lockChain = statement({
  name: 'database.audit-chain.lock',
  row: { locked: bool },
  sql: `SELECT pg_try_advisory_xact_lock(${LOCK_KEYS.auditChain}) AS locked`,
})

export const findLastNumber = statement({
  name: 'database.audit-chain.find-last-number',
  row: { number: int8 },
  sql: 'SELECT coalesce(max(record_number), 0) AS number FROM audit_links',
})

export const isAnyNew = statement({
  name: 'database.audit-chain.any-new',
  row: { any: bool },
  sql: `SELECT coalesce((SELECT max(number) FROM audit_records)
                    > (SELECT coalesce(max(record_number), 0) FROM audit_links), false) AS any`,
})

const unlinked = { parameters: { after: int8, limit: int8 }, row: { number: int8, canonical: text } }

export const findNewRecords = statement({
  name: 'database.audit-chain.find-new-records',
  ...unlinked,
  sql: `SELECT r.number, ${CANONICAL} AS canonical FROM audit_records r
     WHERE r.number > :after ORDER BY r.number LIMIT :limit`,
})

/** Like `findNewRecords`, for a range that has linked records, too. */
export const findLateRecords = statement({
  name: 'database.audit-chain.find-late-records',
  ...unlinked,
  sql: `SELECT r.number, ${CANONICAL} AS canonical FROM audit_records r
     WHERE r.number > :after AND ${NOT_LINKED} ORDER BY r.number LIMIT :limit`,
})

export const appendLinks = insertion({
  name: 'database.audit-chain.append-links',
  into: 'audit_links',
  columns: { position: int8, record_number: int8, hash: text },
})

/** The next links with their records. */
export const findLinks = statement({
  name: 'database.audit-chain.find-links',
  parameters: { after: int8, limit: int8 },
  row: { position: int8, record_number: int8, hash: text, canonical: nullable(text) },
  sql: `SELECT l.position, l.record_number, l.hash, CASE WHEN r.number IS NOT NULL THEN ${CANONICAL} END AS canonical
      FROM (SELECT * FROM audit_links WHERE position > :after ORDER BY position LIMIT :limit) l
      LEFT JOIN audit_records r ON r.number = l.record_number
     ORDER BY l.position`,
})

/** The next links with their records, without the last link of the chain, and whether each is older than `days`. */
export const findOldLinks = statement({
  name: 'database.audit-chain.find-old-links',
  parameters: { after: int8, limit: int8, days: int4 },
  row: { position: int8, hash: text, canonical: nullable(text), old: bool },
  sql: `SELECT l.position, l.hash, CASE WHEN r.number IS NOT NULL THEN ${CANONICAL} END AS canonical,
           coalesce(r.at < now() - make_interval(days => :days), true) AS old
      FROM (SELECT * FROM audit_links
             WHERE position > :after AND position < (SELECT max(position) FROM audit_links)
             ORDER BY position LIMIT :limit) l
      LEFT JOIN audit_records r ON r.number = l.record_number
     ORDER BY l.position`,
})

/** Settled records without a link, with numbers after `after` and up to `up_to`. */
export const findUnlinked = statement({
  name: 'database.audit-chain.find-unlinked',
  parameters: { after: nullable(int8), up_to: nullable(int8), settled: int8, limit: int8 },
  row: { number: int8, behind: nullable(bool) },
  sql: `SELECT r.number, r.number <= (SELECT max(record_number) FROM audit_links) AS behind
      FROM audit_records r
     WHERE ${NOT_LINKED} AND (:after::bigint IS NULL OR r.number > :after)
       AND (:up_to::bigint IS NULL OR r.number <= :up_to)
       AND (r.number <= :settled OR r.at NOT BETWEEN now() - interval '1 minute' AND now() + interval '1 minute')
     ORDER BY r.number LIMIT :limit`,
})

export const lockDrop = statement({
  name: 'database.audit-chain.lock-drop',
  sql: `SELECT FROM pg_advisory_xact_lock(${LOCK_KEYS.auditDrop})`,
})

/** Drops records and links up to a position. The database function checks their age again. */
export const dropUpTo = statement({
  name: 'database.audit-chain.drop',
  parameters: { position: int8, days: int4 },
  sql: 'SELECT FROM drop_audit(:position, :days)',
})
