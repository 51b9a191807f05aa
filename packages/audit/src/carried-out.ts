import { auditResourceType, type CommandBody } from '@slipway/contracts'
import type { Queryable } from '@slipway/database'
import { isCarriedOut } from './record.sql.ts'
import { recordAudit } from './record.ts'

type Caller = CommandBody<'pending.cancel'>['caller']

export interface CarriedOut {
  /** The record's id: the gateway uses the same when it refuses the command, so that only one of the two is written. */
  command_id: string
  action:
    | 'deployment.create'
    | 'deployment.redeploy'
    | 'deployment.cancel'
    | 'pending_request.cancel'
    | 'pending_request.update'
    | 'webhook.redeliver'
    | 'instance.update'
    | 'instance.delete'
  caller: Caller
  request_id: string | null
  /** Where it is not what the action is named after: a create may leave a pending request. */
  resource_type?: 'pending_request'
  resource_id: string
  tenant_id: string | null
  details: Record<string, unknown>
}

/** The caller has been told that nothing was done, so that it must not be done any more. */
class AlreadyRefused extends Error {
  override name = 'AlreadyRefused'
}

/**
 * Records a user's call in the transaction that carries it out.
 * @throws AlreadyRefused, which must undo the transaction
 */
export const recordCall = (tx: Queryable, call: CarriedOut): Promise<void> => recordCalls(tx, [call])

/** Likewise for calls that one transaction carries out: all, or none when any was refused. */
export async function recordCalls(tx: Queryable, calls: readonly CarriedOut[]): Promise<void> {
  const written = await recordAudit(
    tx,
    calls.map(({ command_id, action, caller, ...rest }) => ({
      id: command_id,
      actor_id: caller.user_id,
      actor_name: caller.username,
      actor_ip: caller.ip,
      action,
      resource_type: auditResourceType(action),
      ...rest,
    })),
  )
  if (written === calls.length) return
  throw new AlreadyRefused(`refused already: ${calls.map(({ command_id }) => command_id).join(', ')}`)
}

/** Null when the call was refused before it could be carried out. */
export async function unlessRefused<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work
  } catch (error) {
    if (error instanceof AlreadyRefused) return null
    throw error
  }
}

/** Whether this command was carried out before: then a copy of it asks for nothing new. */
export const wasCarriedOut = async (tx: Queryable, commandId: string): Promise<boolean> =>
  (await isCarriedOut.one(tx, { id: commandId })).carried_out
