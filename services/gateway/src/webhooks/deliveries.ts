import type { Queryable } from '@slipway/database'
import { isUuid, notFound } from '@slipway/domain'
import { isoTime, jsonObject } from '@slipway/views'

const EXCERPT_CHARACTERS = 1_024

/** A delivery as answers show it, from `webhook_deliveries` as `d`. */
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

const OF_WEBHOOK = `FROM webhook_deliveries d
  WHERE d.webhook_id = $1 AND ($2::webhook_delivery_status IS NULL OR d.status = $2::webhook_delivery_status)`

export async function countDeliveries(db: Queryable, webhookId: string, status: string | undefined): Promise<number> {
  const { rows } = await db.query<{ count: number }>(`SELECT count(*) ${OF_WEBHOOK}`, [webhookId, status ?? null])
  return rows[0]?.count ?? 0
}

export async function listDeliveries(
  db: Queryable,
  webhookId: string,
  { status, skip, take }: { status: string | undefined; skip: number; take: number },
): Promise<object[]> {
  const { rows } = await db.query<{ item: object }>(
    `SELECT ${DELIVERY} AS item ${OF_WEBHOOK} ORDER BY d.created_at DESC, d.id DESC LIMIT $3 OFFSET $4`,
    [webhookId, status ?? null, take, skip],
  )
  return rows.map(({ item }) => item)
}

/** @throws Problem NOT_FOUND */
export async function findDelivery(db: Queryable, webhookId: string, id: string): Promise<object> {
  const { rows } = isUuid(id)
    ? await db.query<{ item: object }>(
        `SELECT ${DELIVERY} AS item FROM webhook_deliveries d WHERE d.id = $2 AND d.webhook_id = $1`,
        [webhookId, id],
      )
    : { rows: [] }
  const [row] = rows
  if (row === undefined) throw notFound('The delivery')
  return row.item
}
