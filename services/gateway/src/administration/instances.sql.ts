import { int8, json, nullable, statement, text, uuid } from '@slipway/database'
import { INSTANCE, visibleSql } from '@slipway/views'

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
  parameters: { ...matching, take: int8, skip: int8 },
  row,
  sql: `SELECT ${INSTANCE} AS item ${MATCHING} ORDER BY i.created_at DESC, i.id DESC LIMIT :take OFFSET :skip`,
})

export const findInstance = statement({
  name: 'gateway.instances.find',
  parameters: { id: uuid, tenant_id: nullable(uuid) },
  row,
  sql: `SELECT ${INSTANCE} AS item ${VISIBLE} AND i.id = :id`,
})
