import { isEvent } from '@slipway/contracts'
import { type Queryable, statement } from '../sql/statement.ts'
import { array, bool, nullable, text, timestamptz, uuid } from '../sql/types.ts'
import { type WebhookRecord, webhookEventOf } from './webhook-event.ts'

/** SQL: whether the webhook `w` subscribes to the event `e`, and its tenant may see the event. */
export const LISTENS = `w.enabled AND e.event = ANY(w.events)
  AND (w.tenant_id IS NULL OR w.tenant_id = e.tenant_id OR (e.tenant_id IS NULL AND e.shared))`

/** The events to which a webhook subscribes. */
const findAskedFor = statement({
  name: 'database.webhooks.find-asked-for',
  row: { event: text },
  sql: 'SELECT DISTINCT event FROM webhooks w, unnest(w.events) AS event WHERE w.enabled',
})

/** Stores the events that at least one webhook subscribes to and may see. */
const keepEvents = statement({
  name: 'database.webhooks.keep-events',
  parameters: {
    message_ids: array(uuid),
    tenant_ids: array(nullable(uuid)),
    events: array(text),
    kinds: array(text),
    record_ids: array(uuid),
    shared: array(bool),
    gone: array(bool),
    happened_at: array(timestamptz),
  },
  sql: `INSERT INTO webhook_events (message_id, tenant_id, event, kind, record_id, shared, gone, happened_at)
    SELECT e.*
      FROM unnest(:message_ids::uuid[], :tenant_ids::uuid[], :events::text[], :kinds::text[], :record_ids::uuid[],
                  :shared::bool[], :gone::bool[], :happened_at::timestamptz[])
        AS e (message_id, tenant_id, event, kind, record_id, shared, gone, happened_at)
     WHERE EXISTS (SELECT FROM webhooks w WHERE ${LISTENS})
    ON CONFLICT DO NOTHING`,
})

interface SentMessage {
  message_id: string
  type: string
  json: string
  created_at: Date
}

/**
 * Stores the events for webhooks in the transaction that deletes their messages from the outbox, so that no event is lost. A
 * dispatcher processes them. Returns the number of events. Must see the webhooks of all tenants.
 */
export async function keepForWebhooks(tx: Queryable, sent: readonly SentMessage[]): Promise<number> {
  const asked = new Set((await findAskedFor.all(tx)).map(({ event }) => event))
  // Usually no webhook subscribes. Then no message is parsed.
  if (asked.size === 0) return 0
  const told = sent.flatMap(({ message_id, type, json, created_at }) => {
    const record = isEvent(type) ? webhookEventOf(type, JSON.parse(json)) : null
    return record !== null && asked.has(record.event) ? [{ ...record, message_id, created_at }] : []
  })
  if (told.length === 0) return 0
  const each = <K extends keyof (typeof told)[number]>(name: K) => told.map((one) => one[name])
  return keepEvents.run(tx, {
    message_ids: each('message_id'),
    tenant_ids: each('tenant_id'),
    events: each('event'),
    kinds: each('kind'),
    record_ids: each('id'),
    shared: each('shared'),
    gone: each('gone'),
    happened_at: each('created_at'),
  })
}

/** An event that was stored for webhooks. */
export interface KeptEvent extends WebhookRecord {
  message_id: string
  happened_at: Date
  failures: number
}
