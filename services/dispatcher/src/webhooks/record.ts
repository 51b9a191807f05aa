import {
  ALL_TENANTS,
  attempt,
  countRowFailure,
  type Database,
  type KeptEvent,
  LISTENS,
  type Queryable,
} from '@slipway/database'
import { type KeyRing, type Logger, uuidv7 } from '@slipway/runtime'
import { listItems } from '@slipway/views'

/** How long a delivery is tried. */
export const TRIED_FOR = '24 hours'
/** Events a transaction takes in at most. */
const BATCH = 100
/** When an event is tried again that could not be taken in, its record's secrets being under a lost key, say. */
const PUT_OFF = '5 minutes'
/** A day of that. */
const MAX_FAILURES = 288

export interface RecordOptions {
  database: Database
  keys: KeyRing
  logger: Logger
}

/** A webhook that asks for an event. */
interface Listener {
  message_id: string
  webhook_id: string
  tenant_id: string | null
}

/**
 * Takes in events that were kept for webhooks: notes for each webhook what is to be delivered. Returns how many events
 * it found. Any number of dispatchers may do so at once.
 */
export function recordEvents({ database, keys, logger }: RecordOptions): Promise<number> {
  return database.transaction(async (tx) => {
    const { rows: events } = await tx.query<KeptEvent>(
      `SELECT message_id, event, kind, record_id AS id, tenant_id, shared, gone, happened_at, failures
         FROM webhook_events WHERE due_at <= now() ORDER BY message_id LIMIT ${BATCH} FOR UPDATE SKIP LOCKED`,
    )
    await recordOrPutOff(tx, events, { keys, logger })
    return events.length
  })
}

/** All at once; if that fails, one by one, so that the one at fault is found and keeps no other waiting. */
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
  const all = await listeners(tx, events)
  for (const tenantId of new Set(all.map(({ tenant_id }) => tenant_id))) {
    // Row-level security applies from here on: the reads see what the tenant of the webhook may see.
    await see(tx, tenantId ?? ALL_TENANTS)
    const asking = all.filter(({ tenant_id }) => tenant_id === tenantId)
    const heard = new Set(asking.map(({ message_id }) => message_id))
    const payloads = await payloadsOf(
      { db: tx, keys },
      tenantId,
      events.filter(({ message_id }) => heard.has(message_id)),
    )
    await insert(tx, { tenantId, asking, payloads })
  }
  await see(tx, ALL_TENANTS)
  await tx.query('DELETE FROM webhook_events WHERE message_id = ANY($1::uuid[])', [
    events.map(({ message_id }) => message_id),
  ])
}

const see = (tx: Queryable, tenant: string) => tx.query(`SELECT set_config('slipway.tenant', $1, true)`, [tenant])

/** The webhooks that ask for these and whose tenant may see them, in the order of events. */
async function listeners(tx: Queryable, events: readonly KeptEvent[]): Promise<Listener[]> {
  const { rows } = await tx.query<Listener>(
    `SELECT e.message_id, w.id AS webhook_id, w.tenant_id
       FROM webhook_events e JOIN webhooks w ON ${LISTENS}
      WHERE e.message_id = ANY($1::uuid[]) ORDER BY e.message_id, w.id`,
    [events.map(({ message_id }) => message_id)],
  )
  return rows
}

interface Payload {
  event: string
  text: string
}

/** What is said of each event, by message; of none whose record has gone meanwhile, or to another tenant. */
async function payloadsOf(
  looking: Parameters<typeof listItems>[0],
  tenantId: string | null,
  events: readonly KeptEvent[],
): Promise<Map<string, Payload>> {
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
      const isForeign = tenantId !== null && (item?.tenant_id ?? tenantId) !== tenantId
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
  const told = [...payloads]
  // A webhook that was deleted meanwhile is left out, and so is a message without payload.
  await tx.query(
    `INSERT INTO webhook_deliveries (id, webhook_id, tenant_id, message_id, event, payload, expires_at)
     SELECT n.id, w.id, $1::uuid, p.message_id, p.event, p.payload, now() + interval '${TRIED_FOR}'
       FROM unnest($2::uuid[], $3::uuid[], $4::uuid[]) AS n (id, webhook_id, message_id)
       JOIN unnest($5::uuid[], $6::text[], $7::text[]) AS p (message_id, event, payload) USING (message_id)
       JOIN webhooks w ON w.id = n.webhook_id
        FOR KEY SHARE OF w
     ON CONFLICT (webhook_id, message_id) DO NOTHING`,
    [
      tenantId,
      asking.map(() => uuidv7()),
      asking.map(({ webhook_id }) => webhook_id),
      asking.map(({ message_id }) => message_id),
      told.map(([message_id]) => message_id),
      told.map(([, { event }]) => event),
      told.map(([, { text }]) => text),
    ],
  )
}

/** An event that can be told to nobody is tried again for a day. */
async function putOff(
  tx: Queryable,
  { message_id, event, kind, id, failures }: KeptEvent,
  { error, logger }: { error: unknown; logger: Logger },
): Promise<void> {
  countRowFailure('webhook-events')
  const facts = { event, [`${kind}_id`]: id, failures: failures + 1, error }
  if (failures + 1 >= MAX_FAILURES) {
    logger.error('an event is given up: webhooks are not told of it', facts)
    await tx.query('DELETE FROM webhook_events WHERE message_id = $1', [message_id])
  } else {
    logger.error('webhooks cannot be told of an event; it is tried again later', facts)
    await tx.query(
      `UPDATE webhook_events SET failures = failures + 1, due_at = now() + interval '${PUT_OFF}' WHERE message_id = $1`,
      [message_id],
    )
  }
}
