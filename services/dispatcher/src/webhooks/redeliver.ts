import type { CommandBody, CommandReply } from '@slipway/contracts'
import { type Database, isPast, type ReceivedCommand } from '@slipway/database'
import { recordCall, unlessRefused, wasCarriedOut } from '@slipway/database/audit'
import { conflict, notFound } from '@slipway/domain'
import { lockDelivery, renewDelivery } from './webhooks.sql.ts'

/**
 * Makes a delivery due again in any state, with the same id, by which the receiver recognizes it. Returns null without effect
 * after the deadline or a refusal.
 * @throws Problem NOT_FOUND, CONFLICT
 */
export function redeliver(
  database: Database,
  { webhook_id, delivery_id, caller }: CommandBody<'webhook.redeliver'>,
  { command_id, deadline, request_id, api_key }: ReceivedCommand,
): Promise<CommandReply<'webhook.redeliver'> | null> {
  const done = database.transaction(async (tx) => {
    if (await isPast(tx, deadline)) return null
    const found = await lockDelivery.first(tx, { delivery_id, webhook_id })
    if (!found || (caller.tenant_id !== null && caller.tenant_id !== found.tenant_id)) throw notFound('The delivery')
    if (await wasCarriedOut(tx, command_id)) return { delivery_id }
    if (!found.enabled) throw conflict('The webhook is disabled: enable it first')
    if (found.in_hand) throw conflict('An attempt is in progress: wait for its result')

    await renewDelivery.run(tx, { id: delivery_id })
    await recordCall(tx, {
      command_id,
      action: 'webhook.redeliver',
      caller,
      api_key,
      request_id,
      resource_id: webhook_id,
      tenant_id: found.tenant_id,
      details: { delivery_id, event: found.event, status: found.status },
    })
    return { delivery_id }
  })
  return unlessRefused(done)
}
