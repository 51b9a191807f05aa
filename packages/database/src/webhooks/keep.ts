import { isEvent } from '@slipway/contracts'
import type { Queryable } from '../database.ts'
import { type Happening, happeningOf } from './happening.ts'

/** Whether the webhook `w` asks for the event `e` and its tenant may see it. */
export const LISTENS = `w.enabled AND e.event = ANY(w.events)
  AND (w.tenant_id IS NULL OR w.tenant_id = e.tenant_id OR (e.tenant_id IS NULL AND e.shared))`

export interface SentMessage {
  message_id: string
  type: string
  json: string
  created_at: string
}

/**
 * Keeps what webhooks ask for of messages that leave the outbox, in the transaction in which they do, so that no broker
 * has it alone. A dispatcher takes it in. Returns how many events there are; must see every tenant's webhooks.
 */
export async function keepForWebhooks(tx: Queryable, sent: readonly SentMessage[]): Promise<number> {
  const asked = await askedFor(tx)
  // Mostly none is: then no message is looked into.
  if (asked.size === 0) return 0
  const told = sent.flatMap(({ message_id, type, json, created_at }) => {
    const happening = isEvent(type) ? happeningOf(type, JSON.parse(json)) : null
    return happening !== null && asked.has(happening.event) ? [{ ...happening, message_id, created_at }] : []
  })
  if (told.length === 0) return 0
  const each = <K extends keyof (typeof told)[number]>(name: K) => told.map((one) => one[name])
  const { rowCount } = await tx.query(
    `INSERT INTO webhook_events (message_id, tenant_id, event, kind, record_id, shared, gone, happened_at)
     SELECT e.*
       FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::uuid[], $6::boolean[], $7::boolean[], $8::timestamptz[])
         AS e (message_id, tenant_id, event, kind, record_id, shared, gone, happened_at)
      WHERE EXISTS (SELECT FROM webhooks w WHERE ${LISTENS})
     ON CONFLICT DO NOTHING`,
    [
      each('message_id'),
      each('tenant_id'),
      each('event'),
      each('kind'),
      each('id'),
      each('shared'),
      each('gone'),
      each('created_at'),
    ],
  )
  return rowCount ?? 0
}

/** The events that some webhook asks for. */
async function askedFor(tx: Queryable): Promise<Set<string>> {
  const { rows } = await tx.query<{ event: string }>(
    'SELECT DISTINCT event FROM webhooks w, unnest(w.events) AS event WHERE w.enabled',
    [],
  )
  return new Set(rows.map(({ event }) => event))
}

/** An event that was kept. */
export interface KeptEvent extends Happening {
  message_id: string
  happened_at: Date
  failures: number
}
