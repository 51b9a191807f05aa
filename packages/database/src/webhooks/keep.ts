import { isEvent } from '@slipway/contracts'
import type { Queryable } from '../queryable.ts'
import { findAskedFor, keepEvents } from './keep.sql.ts'
import { type WebhookRecord, webhookEventOf } from './webhook-event.ts'

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
