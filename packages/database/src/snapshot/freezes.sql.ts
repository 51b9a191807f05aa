import type { Freeze } from '@slipway/domain'
import { statement } from '../sql/statement.ts'
import { array, json, nullable, text, timestamptz } from '../sql/types.ts'

/** Freezes that have a window at this time or later. */
export const notEndedAt = (time: string) =>
  `(end_time > ${time} OR (recurrence IS NOT NULL AND (recurs_until IS NULL OR recurs_until > ${time})))`

/** A freeze stays for a minute after its end, so that streams can report the end. */
const NOT_LONG_ENDED = notEndedAt(`now() - interval '1 minute'`)

/**
 * The present time, and the freezes that have not ended unless the caller knows their version. The version is a hash of the visible
 * rows and of the transactions that wrote them, so each change of a freeze changes it, and each viewer has its own.
 */
export const findCurrentFreezes = statement({
  name: 'database.freezes.find-current',
  parameters: { known: array(text) },
  row: { version: text, now: timestamptz, freezes: nullable(json<Freeze[]>()) },
  sql: `SELECT v.version, statement_timestamp() AS now,
       CASE WHEN v.version <> ALL (:known) THEN (
         SELECT coalesce(json_agg(json_build_object('id', id, 'name', name, 'start_time', start_time,
                  'end_time', end_time, 'recurrence', recurrence, 'start_offset', start_offset,
                  'time_zone', time_zone, 'tenant_id', tenant_id, 'environment_id', environment_id,
                  'solution_id', solution_id) ORDER BY end_time, id), '[]')
           FROM freezes WHERE ${NOT_LONG_ENDED}) END AS freezes
      FROM (SELECT concat(count(*), ' ', sum(uuid_hash_extended(id, xmin::text::bigint))) AS version
              FROM freezes WHERE ${NOT_LONG_ENDED}) v`,
})
