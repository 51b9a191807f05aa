import { int8, json, nullable, statement, text, timestamptz, uuid } from '@slipway/database'
import { INSTANCE, visibleSql } from '@slipway/database/read-models'
import { afterNewerSql, pageColumns } from '../pages.sql.ts'

const VISIBLE = `FROM instances i WHERE i.removed_at IS NULL AND ${visibleSql('i')}`
const row = { item: json<object>() }
const matching = { tenant_id: nullable(uuid), pattern: nullable(text) }
const MATCHING = `${VISIBLE} AND (:pattern::text IS NULL OR i.name ILIKE :pattern)`

export const countInstances = statement({
  name: 'gateway.instances.count',
  parameters: matching,
  row: { total: int8 },
  sql: `SELECT count(*) AS total ${MATCHING}`,
})

export const findInstances = statement({
  name: 'gateway.instances.find-page',
  parameters: { ...matching, ...pageColumns },
  row: { ...row, id: uuid, created_at: timestamptz },
  sql: `SELECT ${INSTANCE} AS item, i.id, i.created_at ${MATCHING} AND ${afterNewerSql('i')}
     ORDER BY i.created_at DESC, i.id DESC LIMIT :take OFFSET :skip`,
})

export const findInstance = statement({
  name: 'gateway.instances.find',
  parameters: { id: uuid, tenant_id: nullable(uuid) },
  row,
  sql: `SELECT ${INSTANCE} AS item ${VISIBLE} AND i.id = :id`,
})
