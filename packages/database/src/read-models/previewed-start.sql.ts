import type { InstanceSelector } from '@slipway/domain'
import { statement } from '../sql/statement.ts'
import { array, int8, jsonb, nullable, uuid } from '../sql/types.ts'

const POOL = 'md5(:selector::jsonb::text)::uuid'
/** Of the same rank, pending requests come before a new one. */
const LAST_ID = `'ffffffff-ffff-ffff-ffff-ffffffffffff'`

/** The place that a new request would have among those of its pool, without the requests that it replaces. */
export const findPlaceOfNew = statement({
  name: 'database.previewed-start.find-place',
  parameters: { selector: nullable(jsonb<InstanceSelector>()), rank: int8, replaced: array(uuid) },
  row: { position: int8 },
  sql: `SELECT waiting_pool_position(${POOL}, :rank, ${LAST_ID})
         - (SELECT count(*) FROM pending_requests r
             WHERE r.id = ANY (:replaced) AND r.status = 'pending' AND r.rank <= :rank AND r.pool_key IS NOT DISTINCT FROM ${POOL})
         + 1 AS position`,
})
