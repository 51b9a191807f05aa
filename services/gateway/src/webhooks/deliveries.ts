import { int8, json, nullable, oneOf, type Queryable, statement, timestamptz, uuid } from '@slipway/database'
import { isoTime, jsonObject } from '@slipway/database/read-models'
import { isUuid, notFound } from '@slipway/domain'
import { type CallingUser, messageCaller } from '../callers/calling-user.ts'
import type { Dependencies } from '../dependencies.ts'
import { sendRecordedCommand } from '../deployments/recorded-command.ts'
import type { HandlersOf } from '../handler.ts'
import { afterNewerSql, pageColumns } from '../pages.sql.ts'
import { answerPage, newestOrder } from '../pages.ts'
import { findRecord } from '../records/kind.ts'
import { requireReadable } from './rules.ts'
import { WEBHOOK } from './webhooks.ts'

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

const countDeliveries = statement({
  name: 'gateway.deliveries.count',
  parameters: ofWebhook,
  row: { total: int8 },
  sql: `SELECT count(*) AS total ${OF_WEBHOOK}`,
})

const findDeliveries = statement({
  name: 'gateway.deliveries.find-page',
  parameters: { ...ofWebhook, ...pageColumns },
  row: { ...row, id: uuid, created_at: timestamptz },
  sql: `SELECT ${DELIVERY} AS item, d.id, d.created_at ${OF_WEBHOOK} AND ${afterNewerSql('d')}
     ORDER BY d.created_at DESC, d.id DESC LIMIT :take OFFSET :skip`,
})

const findDelivery = statement({
  name: 'gateway.deliveries.find',
  parameters: { id: uuid, webhook_id: uuid },
  row,
  sql: `SELECT ${DELIVERY} AS item FROM webhook_deliveries d WHERE d.id = :id AND d.webhook_id = :webhook_id`,
})

type DeliveryOperation = 'listWebhookDeliveries' | 'redeliverWebhook'

export function deliveryHandlers({ database, broker }: Dependencies): HandlersOf<DeliveryOperation> {
  const find = async (caller: CallingUser, id = '') => findRecord(WEBHOOK, await database.prisma(), caller, id)

  return {
    listWebhookDeliveries: {
      async handle({ caller, params, query }) {
        const { id } = await find(caller, params['id'])
        const ofWebhook = { webhook_id: id, status: query.status ?? null }
        return answerPage(
          query,
          newestOrder('deliveries'),
          async () => (await countDeliveries.one(database, ofWebhook)).total,
          (slice) => findDeliveries.all(database, { ...ofWebhook, ...slice }),
          (rows) => rows.map(({ item }) => item),
        )
      },
    },

    redeliverWebhook: {
      async handle(call) {
        const { caller, params } = call
        const { id: webhook_id, tenant_id, events } = await find(caller, params['id'])
        const delivery_id = params['delivery_id'] ?? ''
        await requireDelivery(database, webhook_id, delivery_id)
        requireReadable(caller, events)
        await sendRecordedCommand(
          { database, broker },
          call,
          { resource_id: webhook_id, tenant_id },
          {
            type: 'webhook.redeliver',
            body: { webhook_id, delivery_id, caller: messageCaller(caller) },
            done: { delivery_id },
          },
        )
        return { status: 202, body: await requireDelivery(database, webhook_id, delivery_id) }
      },
    },
  }
}

/** @throws Problem NOT_FOUND */
async function requireDelivery(db: Queryable, webhook_id: string, id: string): Promise<object> {
  const found = isUuid(id) ? await findDelivery.first(db, { id, webhook_id }) : null
  if (found === null) throw notFound('The delivery')
  return found.item
}
