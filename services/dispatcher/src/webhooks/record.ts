import {
  ALL_TENANTS,
  attempt,
  countRowFailure,
  type Database,
  type KeptEvent,
  type Queryable,
  type RowOf,
  seeTenant,
} from '@slipway/database'
import { type ItemContext, listItems } from '@slipway/database/read-models'
import { type KeyRing, type Logger, uuidv7 } from '@slipway/runtime'
import { addDeliveries, deleteEvents, findListeners, putOffEvent, takeEvents } from './webhooks.sql.ts'

/** Every 5 minutes, so for a day. An event may fail because, for example, the key of its record's secrets is missing. */
const MAX_FAILURES = 288

interface RecordOptions {
  database: Database
  keys: KeyRing
  logger: Logger
}

type Listener = RowOf<typeof findListeners>

/**
 * Turns stored events into deliveries, one for each subscribed webhook. Returns how many events it found. Several dispatchers
 * may do so at once.
 */
export function recordEvents({ database, keys, logger }: RecordOptions): Promise<number> {
  return database.transaction(async (tx) => {
    const events = await takeEvents.all(tx)
    await recordOrPutOff(tx, events, { keys, logger })
    return events.length
  })
}

/** Processes all events at once. If that fails, processes each alone: a failing event must not block the others. */
async function recordOrPutOff(
  tx: Queryable,
  events: readonly KeptEvent[],
  options: Pick<RecordOptions, 'keys' | 'logger'>,
): Promise<void> {
  if (events.length === 0) return
  try {
    await attempt(tx, (inner) => record(inner, events, options.keys))
  } catch (error) {
    const [first, ...rest] = events
    if (first && rest.length === 0) return putOff(tx, first, { error, logger: options.logger })
    for (const event of events) await recordOrPutOff(tx, [event], options)
  }
}

async function record(tx: Queryable, events: readonly KeptEvent[], keys: KeyRing): Promise<void> {
  const message_ids = events.map(({ message_id }) => message_id)
  const all = await findListeners.all(tx, { message_ids })
  for (const tenantId of new Set(all.map(({ tenant_id }) => tenant_id))) {
    // Row-level security applies from here on: the statements see what the tenant of the webhook sees.
    await seeTenant.run(tx, { tenant: tenantId ?? ALL_TENANTS })
    const asking = all.filter(({ tenant_id }) => tenant_id === tenantId)
    const heard = new Set(asking.map(({ message_id }) => message_id))
    const payloads = await payloadsOf(
      { db: tx, keys, viewer: { tenant_id: tenantId, may_override_freezes: false } },
      events.filter(({ message_id }) => heard.has(message_id)),
    )
    await insert(tx, { tenantId, asking, payloads })
  }
  await seeTenant.run(tx, { tenant: ALL_TENANTS })
  await deleteEvents.run(tx, { message_ids })
}

interface Payload {
  event: string
  text: string
}

/** The payload of each event, by message id. None if its record is gone, or belongs to another tenant now. */
async function payloadsOf(looking: ItemContext, events: readonly KeptEvent[]): Promise<Map<string, Payload>> {
  const { tenant_id } = looking.viewer
  const payloads = new Map<string, Payload>()
  for (const kind of new Set(events.map((event) => event.kind))) {
    const ofKind = events.filter((event) => event.kind === kind)
    const items = await listItems(
      looking,
      kind,
      ofKind.filter(({ gone }) => !gone).map(({ id }) => id),
    )
    for (const { message_id, event, id, gone, happened_at } of ofKind) {
      const item = items.get(id)
      const isForeign = tenant_id !== null && (item?.tenant_id ?? tenant_id) !== tenant_id
      const data = gone ? { id } : isForeign ? undefined : item
      if (data === undefined) continue
      payloads.set(message_id, { event, text: JSON.stringify({ type: event, timestamp: happened_at, data }) })
    }
  }
  return payloads
}

async function insert(
  tx: Queryable,
  {
    tenantId,
    asking,
    payloads,
  }: { tenantId: string | null; asking: readonly Listener[]; payloads: Map<string, Payload> },
): Promise<void> {
  await addDeliveries.run(tx, {
    tenant_id: tenantId,
    deliveries: asking.map(({ webhook_id, message_id }) => ({ id: uuidv7(), webhook_id, message_id })),
    payloads: [...payloads].map(([message_id, { event, text }]) => ({ message_id, event, payload: text })),
  })
}

/** Retries an event for a day if its payload cannot be built. */
async function putOff(
  tx: Queryable,
  { message_id, event, kind, id, failures }: KeptEvent,
  { error, logger }: { error: unknown; logger: Logger },
): Promise<void> {
  countRowFailure('webhook-events')
  const facts = { event, [`${kind}_id`]: id, failures: failures + 1, error }
  if (failures + 1 >= MAX_FAILURES) {
    logger.error('webhooks do not get an event: it could not be read for a day', facts)
    await deleteEvents.run(tx, { message_ids: [message_id] })
  } else {
    logger.error('an event cannot be delivered to webhooks now; it is retried later', facts)
    await putOffEvent.run(tx, { message_id })
  }
}
