import type { CommandBody } from '@slipway/contracts'
import { enqueue, eventMessage } from '@slipway/database'
import type { Bridge } from '../bridge.ts'
import { addressOf } from '../instances/address.ts'
import { postStop } from './instance-calls.ts'

/**
 * Tells an instance to kill a run whose lease has ended, and gives how to follow that up: to wait for the end, and tell the
 * dispatcher. Where nobody does, the ends stay unconfirmed. Throws when the instance cannot be reached.
 */
export async function stopRun(bridge: Bridge, command: CommandBody<'run.stop'>): Promise<() => Promise<void>> {
  const { database, keys, logger } = bridge
  const { deployment_id, epoch, instance_id, reason } = command
  const { rows } = await database.query<{ base_url: string; callback_token_sealed: string }>(
    'SELECT base_url, callback_token_sealed FROM instances WHERE id = $1',
    [instance_id],
  )
  const instance = rows[0]
  if (!instance) return async () => {}
  const ending = await postStop(addressOf(keys, instance_id, instance), { deployment_id, epoch }, reason)
  logger.info('a run was stopped', { deployment_id, epoch, instance_id, reason })
  return async () => {
    const unconfirmed = await ending()
    if (unconfirmed === null) return
    await enqueue(database, [eventMessage('run.stopped', { deployment_id, epoch, unconfirmed })])
    bridge.wakeRelay()
  }
}
