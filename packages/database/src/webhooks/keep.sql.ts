import { statement } from '../sql/statement.ts'
import { array, bool, nullable, text, timestamptz, uuid } from '../sql/types.ts'

/** SQL: whether the webhook `w` subscribes to the event `e`, and its tenant may see the event. */
export const LISTENS = `w.enabled AND e.event = ANY(w.events)
  AND (w.tenant_id IS NULL OR w.tenant_id = e.tenant_id OR (e.tenant_id IS NULL AND e.shared))`

/** The events to which a webhook subscribes. */
export const findAskedFor = statement({
  name: 'database.webhooks.find-asked-for',
  row: { event: text },
  sql: 'SELECT DISTINCT event FROM webhooks w, unnest(w.events) AS event WHERE w.enabled',
})

/** Stores the events that at least one webhook subscribes to and may see. */
export const keepEvents = statement({
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
