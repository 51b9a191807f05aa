import { auditResourceType, type CallingKey, type CommandBody } from '@slipway/contracts'
import type { Queryable } from '../sql/statement.ts'
import { isCarriedOut, recordAudit } from './record.ts'

type Caller = CommandBody<'pending.cancel'>['caller']

export interface CallRecord {
  /** The id of the record. The gateway uses the same id if it refuses the command, so only one of the two is written. */
  command_id: string
  action:
    | 'deployment.create'
    | 'deployment.redeploy'
    | 'deployment.cancel'
    | 'pending_request.cancel'
    | 'pending_request.approve'
    | 'pending_request.reject'
    | 'pending_request.update'
    | 'release.check'
    | 'webhook.redeliver'
    | 'instance.update'
    | 'instance.delete'
  caller: Caller
  api_key: CallingKey | undefined
  request_id: string | null
  /** If the name of the action does not say it: a create may lead to a pending request. */
  resource_type?: 'pending_request'
  resource_id: string | null
  tenant_id: string | null
  details: Record<string, unknown>
}

/** The gateway has told the caller that nothing was done, so the command must not be carried out. */
class AlreadyRefused extends Error {
  override name = 'AlreadyRefused'
}

/**
 * Records a call in the transaction that carries it out.
 * @throws AlreadyRefused, which must roll back the transaction
 */
export const recordCall = (tx: Queryable, call: CallRecord): Promise<void> => recordCalls(tx, [call])

/** Records the calls of one transaction: all, or none if any was refused. */
export async function recordCalls(tx: Queryable, calls: readonly CallRecord[]): Promise<void> {
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

/** Resolves to null if the gateway refused the call before it was carried out. */
export async function unlessRefused<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work
  } catch (error) {
    if (error instanceof AlreadyRefused) return null
    throw error
  }
}

/** Whether this command was carried out before, so this message is a copy. */
export const wasCarriedOut = async (tx: Queryable, commandId: string): Promise<boolean> =>
  (await isCarriedOut.one(tx, { id: commandId })).carried_out
