import { int8, LOCK_KEYS, notEndedAt, statement, uuid } from '@slipway/database'

const LIVE = notEndedAt('now()')

/** A separate statement, because a statement that waits for the lock has an older snapshot. */
export const lockFreezes = statement({
  name: 'gateway.freezes.lock',
  sql: `SELECT FROM pg_advisory_xact_lock(${LOCK_KEYS.freezes})`,
})

/** The number of freezes of the same tenant that have not ended; 0 if this freeze has ended. */
export const countBeside = statement({
  name: 'gateway.freezes.count-beside',
  parameters: { id: uuid },
  row: { count: int8 },
  sql: `SELECT count(*) AS count
      FROM (SELECT tenant_id FROM freezes WHERE ${LIVE}) others
      JOIN (SELECT tenant_id FROM freezes WHERE ${LIVE} AND id = :id) written
        ON others.tenant_id IS NOT DISTINCT FROM written.tenant_id`,
})
