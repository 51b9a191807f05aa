import { recordCall, unlessRefused, wasCarriedOut } from '@slipway/audit'
import type { CommandBody, CommandReply } from '@slipway/contracts'
import { type Database, isPast, type ReceivedCommand } from '@slipway/database'
import { conflict, notFound } from '@slipway/domain'
import { TRIED_FOR } from './record.ts'

interface DeliveryRow {
  tenant_id: string | null
  event: string
  status: string
  in_hand: boolean
  enabled: boolean
}

/**
 * Makes a delivery due again, whatever became of it, under its id: a receiver that had it can tell. Null past the
 * deadline or once it was refused, when it has no effect.
 * @throws Problem NOT_FOUND, CONFLICT
 */
export function redeliver(
  database: Database,
  { webhook_id, delivery_id, caller }: CommandBody<'webhook.redeliver'>,
  { command_id, deadline, request_id }: ReceivedCommand,
): Promise<CommandReply<'webhook.redeliver'> | null> {
  const done = database.transaction(async (tx) => {
    if (await isPast(tx, deadline)) return null
    const { rows } = await tx.query<DeliveryRow>(
      `SELECT w.tenant_id, w.enabled, d.event, d.status, d.claim IS NOT NULL AND d.next_attempt_at > now() AS in_hand
         FROM webhook_deliveries d JOIN webhooks w ON w.id = d.webhook_id
        WHERE d.id = $1 AND w.id = $2 FOR UPDATE OF d`,
      [delivery_id, webhook_id],
    )
    const [found] = rows
    if (!found || (caller.tenant_id !== null && caller.tenant_id !== found.tenant_id)) throw notFound('The delivery')
    if (await wasCarriedOut(tx, command_id)) return { delivery_id }
    if (!found.enabled) throw conflict('The webhook is switched off: enable it first')
    if (found.in_hand) throw conflict('An attempt is being made at this moment: look what comes of it')

    await tx.query(
      `UPDATE webhook_deliveries
          SET status = 'pending', attempts = 0, next_attempt_at = now(), expires_at = now() + interval '${TRIED_FOR}',
              claim = NULL, delivered_at = NULL
        WHERE id = $1`,
      [delivery_id],
    )
    await recordCall(tx, {
      command_id,
      action: 'webhook.redeliver',
      caller,
      request_id,
      resource_id: webhook_id,
      tenant_id: found.tenant_id,
      details: { delivery_id, event: found.event, status: found.status },
    })
    return { delivery_id }
  })
  return unlessRefused(done)
}
