import { isEvent } from '@slipway/contracts'
import { columnNames, type Queryable, rowSet, statement } from '../sql/statement.ts'
import { bool, nullable, text, timestamptz, uuid } from '../sql/types.ts'
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

const EVENT = {
  message_id: uuid,
  tenant_id: nullable(uuid),
  event: text,
  kind: text,
  record_id: uuid,
  shared: bool,
  gone: bool,
  happened_at: timestamptz,
}

/** Stores the events that at least one webhook subscribes to and may see. */
const keepEvents = statement({
  name: 'database.webhooks.keep-events',
  parameters: { events: rowSet(EVENT) },
  sql: `INSERT INTO webhook_events (${columnNames(EVENT)})
    SELECT e.* FROM :events AS e WHERE EXISTS (SELECT FROM webhooks w WHERE ${LISTENS})
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
  const events = sent.flatMap(({ message_id, type, json, created_at }) => {
    const record = isEvent(type) ? webhookEventOf(type, JSON.parse(json)) : null
    if (record === null || !asked.has(record.event)) return []
    return [{ ...record, record_id: record.id, message_id, happened_at: created_at }]
  })
  return keepEvents.runRows(tx, events)
}

/** An event that was stored for webhooks. */
export interface KeptEvent extends WebhookRecord {
  message_id: string
  happened_at: Date
  failures: number
}
