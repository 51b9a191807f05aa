import { array, type Columns, int8, nullable, statement, text, timestamptz, uuid } from '@slipway/database'
import { isoTime, jsonObject, ownSql } from '@slipway/database/read-models'

/** SQL: the id of the API key that acted. The index `audit_records_api_key_idx` has this expression. */
const API_KEY_ID = `r.details #>> '{api_key,id}'`

const RECORD = jsonObject({
  id: 'r.id',
  at: isoTime('r.at'),
  actor_id: 'r.actor_id',
  actor_name: 'r.actor_name',
  actor_ip: 'r.actor_ip',
  api_key_id: API_KEY_ID,
  api_key_name: `r.details #>> '{api_key,name}'`,
  action: 'r.action',
  resource_type: 'r.resource_type',
  resource_id: 'r.resource_id',
  tenant_id: 'r.tenant_id',
  request_id: 'r.request_id',
  details: `r.details - 'api_key'`,
})

/** Null means no condition. */
const filter = {
  tenant_id: nullable(uuid),
  action: nullable(text),
  exclude_actions: nullable(array(text)),
  resource_type: nullable(text),
  resource_id: nullable(text),
  actor_id: nullable(uuid),
  api_key_id: nullable(uuid),
  from: nullable(timestamptz),
  to: nullable(timestamptz),
}
const FILTER = `${ownSql('r')} AND (:action::text IS NULL OR r.action = :action)
       AND (:exclude_actions::text[] IS NULL OR r.action <> ALL (:exclude_actions))
       AND (:resource_type::text IS NULL OR r.resource_type = :resource_type)
       AND (:resource_id::text IS NULL OR r.resource_id = :resource_id)
       AND (:actor_id::uuid IS NULL OR r.actor_id = :actor_id)
       AND (:api_key_id::uuid IS NULL OR ${API_KEY_ID} = :api_key_id::uuid::text)
       AND (:from::timestamptz IS NULL OR r.at >= :from) AND (:to::timestamptz IS NULL OR r.at < :to)`

export const countRecords = statement({
  name: 'gateway.audit.count',
  parameters: filter,
  row: { total: int8 },
  sql: `SELECT count(*) AS total FROM audit_records r WHERE ${FILTER}`,
})

/** How many records have one of these actions, of all tenants. An index has both columns. */
export const countActions = statement({
  name: 'gateway.audit.count-actions',
  parameters: { actions: array(text) },
  row: { total: int8 },
  sql: `SELECT count(*) AS total FROM audit_records r WHERE r.action = ANY (:actions)`,
})

const NEWEST_FIRST = 'r.at DESC, r.number DESC'

/** A page of records, newest first. */
const page = <P extends Columns>(name: string, parameters: P, slice: string) =>
  statement({
    name,
    parameters: { ...filter, ...parameters },
    row: { data: text },
    sql: `SELECT coalesce(json_agg(${RECORD} ORDER BY ${NEWEST_FIRST}), '[]')::text AS data
      FROM (SELECT * FROM audit_records r WHERE ${FILTER} ${slice}) r`,
  })

const numbered = { take: int8, skip: int8 }
export const pageFromNewest = page(
  'gateway.audit.page-from-newest',
  numbered,
  `ORDER BY ${NEWEST_FIRST} LIMIT :take OFFSET :skip`,
)
export const pageFromOldest = page(
  'gateway.audit.page-from-oldest',
  numbered,
  'ORDER BY r.at, r.number LIMIT :take OFFSET :skip',
)

/**
 * The records after the one with this time and id. Retention deletes the oldest records, so if this one is gone, no record of its
 * time is left.
 */
export const pageAfter = page(
  'gateway.audit.page-after',
  { take: int8, after_at: timestamptz, after_id: uuid },
  `AND (r.at, r.number) < (:after_at, coalesce((SELECT a.number FROM audit_records a WHERE a.id = :after_id), 0))
     ORDER BY ${NEWEST_FIRST} LIMIT :take`,
)
