import { ITEM_KINDS, WEBHOOK_EVENT_NAMES } from '@slipway/contracts'
import {
  array,
  bool,
  float8,
  int4,
  int8,
  LISTENS,
  LOCK_KEYS,
  nullable,
  oneOf,
  rowSet,
  statement,
  text,
  timestamptz,
  uuid,
} from '@slipway/database'

const deliveryStatus = oneOf('webhook_delivery_status', ['pending', 'delivered', 'failed'])
const webhookEvent = oneOf('text', WEBHOOK_EVENT_NAMES)
const recordKind = oneOf('text', ITEM_KINDS)

/** The most attempts at a time for one webhook, in case its receiver hangs. */
export const MAX_PER_WEBHOOK = 4
/** After so many timeouts in a row, a webhook gets one attempt at a time until its receiver answers. */
export const TIMEOUTS_UNTIL_SLOW = 3
/** How long a delivery is retried. */
const TRIED_FOR = '24 hours'
/** The most events in one transaction. */
const EVENTS = 100
/** The most deliveries that one statement marks as failed or deletes. */
export const SWEPT = 1_000

// --- events that webhooks are told of ------------------------------------------------------------------------------

export const takeEvents = statement({
  name: 'dispatcher.webhooks.take-events',
  row: {
    message_id: uuid,
    event: webhookEvent,
    kind: recordKind,
    id: uuid,
    tenant_id: nullable(uuid),
    shared: bool,
    gone: bool,
    happened_at: timestamptz,
    failures: int4,
  },
  sql: `SELECT message_id, event, kind, record_id AS id, tenant_id, shared, gone, happened_at, failures
      FROM webhook_events WHERE due_at <= now() ORDER BY message_id LIMIT ${EVENTS} FOR UPDATE SKIP LOCKED`,
})

/** The webhooks that subscribe to these events and may see them, in the order of events. */
export const findListeners = statement({
  name: 'dispatcher.webhooks.find-listeners',
  parameters: { message_ids: array(uuid) },
  row: { message_id: uuid, webhook_id: uuid, tenant_id: nullable(uuid) },
  sql: `SELECT e.message_id, w.id AS webhook_id, w.tenant_id
      FROM webhook_events e JOIN webhooks w ON ${LISTENS}
     WHERE e.message_id = ANY(:message_ids) ORDER BY e.message_id, w.id`,
})

/** Adds deliveries. It skips webhooks that were deleted meanwhile, and messages without a payload. */
export const addDeliveries = statement({
  name: 'dispatcher.webhooks.add-deliveries',
  parameters: {
    tenant_id: nullable(uuid),
    deliveries: rowSet({ id: uuid, webhook_id: uuid, message_id: uuid }),
    payloads: rowSet({ message_id: uuid, event: text, payload: text }),
  },
  sql: `INSERT INTO webhook_deliveries (id, webhook_id, tenant_id, message_id, event, payload, expires_at)
    SELECT n.id, w.id, :tenant_id::uuid, p.message_id, p.event, p.payload, now() + interval '${TRIED_FOR}'
      FROM :deliveries AS n
      JOIN :payloads AS p USING (message_id)
      JOIN webhooks w ON w.id = n.webhook_id
       FOR KEY SHARE OF w
    ON CONFLICT (webhook_id, message_id) DO NOTHING`,
})

export const deleteEvents = statement({
  name: 'dispatcher.webhooks.delete-events',
  parameters: { message_ids: array(uuid) },
  sql: 'DELETE FROM webhook_events WHERE message_id = ANY(:message_ids)',
})

export const putOffEvent = statement({
  name: 'dispatcher.webhooks.put-off-event',
  parameters: { message_id: uuid },
  sql: `UPDATE webhook_events SET failures = failures + 1, due_at = now() + interval '5 minutes'
     WHERE message_id = :message_id`,
})

// --- deliveries ----------------------------------------------------------------------------------------------------

/** Two dispatchers that claim at once would exceed the limit of a webhook. */
export const lockClaims = statement({
  name: 'dispatcher.webhooks.lock-claims',
  sql: `SELECT FROM pg_advisory_xact_lock(${LOCK_KEYS.webhookClaims})`,
})

/**
 * Claims up to `limit` deliveries that are due: for each webhook the oldest first, all webhooks of a tenant in turn, and tenants with few
 * attempts in flight first. A claim lasts 60 s, longer than any attempt. If the dispatcher dies, its deliveries are due again after that.
 *
 * A tenant gets another place only while as many places stay free as it has, so slow receivers of one tenant never take those of others
 * (the dynamic threshold of switches with shared memory). Its webhooks that keep timing out get half of that, so its other webhooks
 * do not wait for them.
 */
export const claimDeliveries = statement({
  name: 'dispatcher.webhooks.claim-deliveries',
  parameters: { limit: int8, claim: uuid },
  row: {
    id: uuid,
    webhook_id: uuid,
    tenant_id: nullable(uuid),
    event: text,
    payload: text,
    attempts: int4,
    url: text,
    secret_sealed: text,
  },
  sql: `WITH hooks AS (
      SELECT w.id, w.tenant_id, w.consecutive_timeouts >= ${TIMEOUTS_UNTIL_SLOW} AS slow, (
               SELECT count(*) FROM webhook_deliveries b
                WHERE b.webhook_id = w.id AND b.claim IS NOT NULL AND b.next_attempt_at > now()) AS in_flight
        FROM webhooks w WHERE w.enabled
    ), tenants AS (
      SELECT tenant_id, sum(in_flight) AS in_flight, coalesce(sum(in_flight) FILTER (WHERE slow), 0) AS slow_in_flight
        FROM hooks GROUP BY tenant_id
    ), due AS (
      SELECT n.id, n.place, h.tenant_id, h.slow
        FROM hooks h
       CROSS JOIN LATERAL (
         SELECT d.id, row_number() OVER (ORDER BY d.next_attempt_at, d.id) AS place
           FROM webhook_deliveries d
          WHERE d.webhook_id = h.id AND d.status = 'pending' AND d.next_attempt_at <= now() AND d.expires_at > now()
          ORDER BY d.next_attempt_at, d.id
          LIMIT greatest(0, CASE WHEN h.slow THEN 1 ELSE ${MAX_PER_WEBHOOK} END - h.in_flight)
       ) n
    ), loaded AS (
      SELECT d.id, d.place, d.slow,
             t.in_flight + row_number() OVER (PARTITION BY d.tenant_id ORDER BY d.slow, d.place, d.id) AS load,
             t.slow_in_flight + row_number() OVER (PARTITION BY d.tenant_id, d.slow ORDER BY d.place, d.id) AS slow_load
        FROM due d JOIN tenants t ON t.tenant_id IS NOT DISTINCT FROM d.tenant_id
    ), turns AS (
      SELECT id, slow, load, slow_load, :limit::bigint - row_number() OVER turn AS free
        FROM loaded WINDOW turn AS (ORDER BY load, place, id) ORDER BY load, place, id LIMIT :limit
    ), locked AS (
      SELECT d.id FROM webhook_deliveries d JOIN turns n USING (id)
       WHERE n.load <= n.free + 1 AND (NOT n.slow OR 2 * n.slow_load <= n.free + 1 OR n.slow_load = 1)
         AND d.status = 'pending' AND d.next_attempt_at <= now() FOR UPDATE OF d SKIP LOCKED
    )
    UPDATE webhook_deliveries d
       SET claim = :claim, attempts = d.attempts + 1, last_attempt_at = now(),
           next_attempt_at = now() + interval '60 seconds'
      FROM locked, webhooks w
     WHERE d.id = locked.id AND w.id = d.webhook_id
    RETURNING d.id, d.webhook_id, w.tenant_id, d.event, d.payload, d.attempts, w.url, w.secret_sealed`,
})

/** Stores the outcome of an attempt, if the claim is still valid. */
export const finishDelivery = statement({
  name: 'dispatcher.webhooks.finish-delivery',
  parameters: {
    id: uuid,
    claim: uuid,
    result: oneOf('text', ['delivered', 'failed', 'gone']),
    delay_seconds: float8,
    response_status: nullable(int4),
    response_body: nullable(text),
    error: nullable(text),
  },
  row: { status: deliveryStatus },
  sql: `UPDATE webhook_deliveries
       SET claim = NULL, response_status = :response_status, response_body = :response_body, error = :error,
           next_attempt_at = now() + make_interval(secs => :delay_seconds),
           delivered_at = CASE WHEN :result::text = 'delivered' THEN now() END,
           status = CASE WHEN :result = 'delivered' THEN 'delivered'
                         WHEN :result = 'gone' OR now() + make_interval(secs => :delay_seconds) >= expires_at THEN 'failed'
                         ELSE 'pending' END::webhook_delivery_status
     WHERE id = :id AND claim = :claim
    RETURNING status`,
})

/** Counts a timeout, unless the webhook has another URL by now. */
export const countTimeout = statement({
  name: 'dispatcher.webhooks.count-timeout',
  parameters: { id: uuid, url: text },
  sql: 'UPDATE webhooks SET consecutive_timeouts = least(consecutive_timeouts + 1, 1000) WHERE id = :id AND url = :url',
})

export const forgetTimeouts = statement({
  name: 'dispatcher.webhooks.forget-timeouts',
  parameters: { id: uuid, url: text },
  sql: 'UPDATE webhooks SET consecutive_timeouts = 0 WHERE id = :id AND url = :url AND consecutive_timeouts <> 0',
})

/** Disables a webhook, unless it has another URL by now. */
export const disableWebhook = statement({
  name: 'dispatcher.webhooks.disable',
  parameters: { id: uuid, url: text, reason: text },
  sql: `UPDATE webhooks SET enabled = false, disabled_reason = :reason, updated_at = now()
     WHERE id = :id AND url = :url AND enabled`,
})

export const lockDelivery = statement({
  name: 'dispatcher.webhooks.lock-delivery',
  parameters: { delivery_id: uuid, webhook_id: uuid },
  row: { tenant_id: nullable(uuid), enabled: bool, event: text, status: deliveryStatus, in_hand: bool },
  sql: `SELECT w.tenant_id, w.enabled, d.event, d.status, d.claim IS NOT NULL AND d.next_attempt_at > now() AS in_hand
      FROM webhook_deliveries d JOIN webhooks w ON w.id = d.webhook_id
     WHERE d.id = :delivery_id AND w.id = :webhook_id FOR UPDATE OF d`,
})

/** Resets a delivery, so that it is due now and has all its attempts again. */
export const renewDelivery = statement({
  name: 'dispatcher.webhooks.renew-delivery',
  parameters: { id: uuid },
  sql: `UPDATE webhook_deliveries
       SET status = 'pending', attempts = 0, next_attempt_at = now(), expires_at = now() + interval '${TRIED_FOR}',
           claim = NULL, delivered_at = NULL
     WHERE id = :id`,
})

/** Marks deliveries as failed that have expired, for example because their webhook is disabled. */
export const giveUpDeliveries = statement({
  name: 'dispatcher.webhooks.give-up-deliveries',
  sql: `UPDATE webhook_deliveries
       SET status = 'failed', claim = NULL, error = coalesce(error, 'There was no attempt in time')
     WHERE id IN (SELECT id FROM webhook_deliveries
                   WHERE status = 'pending' AND expires_at <= now() AND (claim IS NULL OR next_attempt_at <= now())
                   LIMIT ${SWEPT} FOR UPDATE SKIP LOCKED)`,
})

export const deleteOldDeliveries = statement({
  name: 'dispatcher.webhooks.delete-old-deliveries',
  sql: `DELETE FROM webhook_deliveries
     WHERE id IN (SELECT id FROM webhook_deliveries
                   WHERE created_at < now() - interval '7 days' AND status <> 'pending'
                   LIMIT ${SWEPT} FOR UPDATE SKIP LOCKED)`,
})

/** Counts pending deliveries. `overdue` is for how many seconds the oldest delivery or event has been due. */
export const countPendingDeliveries = statement({
  name: 'dispatcher.webhooks.count-pending-deliveries',
  row: { pending: int8, overdue: float8 },
  sql: `SELECT count(*) AS pending, greatest(0, extract(epoch FROM now() -
           least(min(d.next_attempt_at), (SELECT min(due_at) FROM webhook_events))))::float8 AS overdue
      FROM webhook_deliveries d JOIN webhooks w ON w.id = d.webhook_id
     WHERE d.status = 'pending' AND w.enabled`,
})
