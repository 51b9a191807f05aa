import type { CommandBody, CommandReply } from '@slipway/contracts'
import { type Database, isPast, type ReceivedCommand } from '@slipway/database'
import { recordCall, unlessRefused, wasCarriedOut } from '@slipway/database/audit'
import { requestChecks } from './schedule.sql.ts'

/** Makes checks due now, those of the caller's tenant. Returns null without effect after the deadline or a refusal. */
export function requestReleaseChecks(
  database: Database,
  { caller, source_id, target_ids }: CommandBody<'release.check'>,
  { command_id, deadline, request_id, api_key }: ReceivedCommand,
): Promise<CommandReply<'release.check'> | null> {
  const { tenant_id } = caller
  const requested = database.transaction(async (tx) => {
    if (await isPast(tx, deadline)) return null
    if (await wasCarriedOut(tx, command_id)) return {}
    const releases = await requestChecks.run(tx, { tenant_id, source_id, target_ids })
    await recordCall(tx, {
      command_id,
      action: 'release.check',
      caller,
      api_key,
      request_id,
      // A record is found by the source, or else by the first target.
      resource_id: source_id ?? target_ids?.[0] ?? null,
      tenant_id,
      details: { source_id, target_count: target_ids?.length ?? null, releases },
    })
    return {}
  })
  return unlessRefused(requested)
}
