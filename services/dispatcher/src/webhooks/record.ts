import type { Envelope } from '@slipway/contracts'
import { ALL_TENANTS, type Database, listItem, type Queryable } from '@slipway/database'
import { type KeyRing, uuidv7 } from '@slipway/runtime'
import { type Happening, happeningOf } from './happening.ts'

/** How long a delivery is tried. */
export const TRIED_FOR = '24 hours'

export interface RecordOptions {
  database: Database
  keys: KeyRing
  /** There is something to deliver. */
  onRecorded(): void
}

interface Listener {
  id: string
  tenant_id: string | null
}

/** Notes for each webhook that asks for an event what is to be delivered: once, however often the message comes. */
export function createRecorder({ database, keys, onRecorded }: RecordOptions) {
  return async (envelope: Envelope): Promise<void> => {
    const happening = happeningOf(envelope)
    if (happening === null) return
    const all = await listeners(database, happening)
    for (const tenantId of new Set(all.map(({ tenant_id }) => tenant_id))) {
      const webhooks = all.filter(({ tenant_id }) => tenant_id === tenantId)
      await database.transaction(async (tx) => {
        // The second wall: what is read now is what the webhook's tenant may see.
        await tx.query(`SELECT set_config('slipway.tenant', $1, true)`, [tenantId ?? ALL_TENANTS])
        const data = await dataOf(tx, keys, happening, tenantId)
        if (data === null) return
        const { message_id, timestamp } = envelope
        const payload = JSON.stringify({ type: happening.event, timestamp, data })
        await insert(tx, webhooks, { tenantId, message_id, event: happening.event, payload })
      })
    }
    if (all.length > 0) onRecorded()
  }
}

/** The webhooks that ask for this and whose tenant may see it. */
async function listeners(db: Queryable, { event, tenant_id, shared }: Happening): Promise<Listener[]> {
  const { rows } = await db.query<Listener>(
    `SELECT id, tenant_id FROM webhooks
      WHERE enabled AND $1 = ANY(events)
        AND (tenant_id IS NULL OR tenant_id = $2::uuid OR ($2::uuid IS NULL AND $3))`,
    [event, tenant_id, shared],
  )
  return rows
}

/** Null when the record has gone meanwhile, or to another tenant. */
async function dataOf(
  tx: Queryable,
  keys: KeyRing,
  { kind, id, gone }: Happening,
  tenantId: string | null,
): Promise<object | null> {
  if (gone) return { id }
  const item = (await listItem({ db: tx, keys, viewer: { tenant_id: tenantId } }, kind, id)) as Listener | null
  const foreign = tenantId !== null && item !== null && (item.tenant_id ?? tenantId) !== tenantId
  return foreign ? null : item
}

async function insert(
  tx: Queryable,
  webhooks: Listener[],
  delivery: { tenantId: string | null; message_id: string; event: string; payload: string },
): Promise<void> {
  // One that was deleted meanwhile is left out.
  await tx.query(
    `INSERT INTO webhook_deliveries (id, webhook_id, tenant_id, message_id, event, payload, expires_at)
     SELECT n.id, w.id, $3::uuid, $4::uuid, $5, $6, now() + interval '${TRIED_FOR}'
       FROM unnest($1::uuid[], $2::uuid[]) AS n (id, webhook_id)
       JOIN webhooks w ON w.id = n.webhook_id
        FOR KEY SHARE OF w
     ON CONFLICT (webhook_id, message_id) DO NOTHING`,
    [
      webhooks.map(() => uuidv7()),
      webhooks.map(({ id }) => id),
      delivery.tenantId,
      delivery.message_id,
      delivery.event,
      delivery.payload,
    ],
  )
}
