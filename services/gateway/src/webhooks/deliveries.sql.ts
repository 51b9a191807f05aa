import { int8, json, LOCK_KEYS_BY_VALUE, nullable, oneOf, statement, timestamptz, uuid } from '@slipway/database'
import { isoTime, jsonObject } from '@slipway/database/read-models'
import { afterNewerSql, pageColumns } from '../pages.sql.ts'

const EXCERPT_CHARACTERS = 1_024

/** SQL: the delivery `d` as the API shows it. */
const DELIVERY = jsonObject({
  id: 'd.id',
  webhook_id: 'd.webhook_id',
  event: 'd.event',
  status: 'd.status',
  attempts: 'd.attempts',
  created_at: isoTime('d.created_at'),
  last_attempt_at: isoTime('d.last_attempt_at'),
  next_attempt_at: `CASE WHEN d.status = 'pending' THEN ${isoTime('d.next_attempt_at')} END`,
  delivered_at: isoTime('d.delivered_at'),
  response_status: 'd.response_status',
  response_body: 'd.response_body',
  error: 'd.error',
  payload: `left(d.payload, ${EXCERPT_CHARACTERS})`,
})

const row = { item: json<object>() }
const ofWebhook = {
  webhook_id: uuid,
  status: nullable(oneOf('webhook_delivery_status', ['delivered', 'failed', 'pending'])),
}
const OF_WEBHOOK = `FROM webhook_deliveries d
     WHERE d.webhook_id = :webhook_id AND (:status::webhook_delivery_status IS NULL OR d.status = :status)`

export const countDeliveries = statement({
  name: 'gateway.deliveries.count',
  parameters: ofWebhook,
  row: { total: int8 },
  sql: `SELECT count(*) AS total ${OF_WEBHOOK}`,
})

export const findDeliveries = statement({
  name: 'gateway.deliveries.find-page',
  parameters: { ...ofWebhook, ...pageColumns },
  row: { ...row, id: uuid, created_at: timestamptz },
  sql: `SELECT ${DELIVERY} AS item, d.id, d.created_at ${OF_WEBHOOK} AND ${afterNewerSql('d')}
     ORDER BY d.created_at DESC, d.id DESC LIMIT :take OFFSET :skip`,
})

export const findDelivery = statement({
  name: 'gateway.deliveries.find',
  parameters: { id: uuid, webhook_id: uuid },
  row,
  sql: `SELECT ${DELIVERY} AS item FROM webhook_deliveries d WHERE d.id = :id AND d.webhook_id = :webhook_id`,
})

/** One transaction at a time adds a webhook to a tenant. */
export const lockWebhooksOf = statement({
  name: 'gateway.webhooks.lock-of-tenant',
  parameters: { tenant_id: nullable(uuid) },
  sql: `SELECT FROM pg_advisory_xact_lock(${LOCK_KEYS_BY_VALUE.tenantWebhooks(`coalesce(:tenant_id::uuid::text, '')`)})`,
})
