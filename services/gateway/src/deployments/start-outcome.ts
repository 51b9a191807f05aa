import { type CommandReply, QUEUED_MESSAGE } from '@slipway/contracts'
import type { Queryable } from '@slipway/database'
import { findWarnings } from './start-outcome.sql.ts'

export type StartOutcome = CommandReply<'deployment.start'>

/** Finds the deployment or pending request that the command created: it has the id of the command. Null if there is none. */
export async function findStartOutcome(db: Queryable, commandId: string): Promise<StartOutcome | null> {
  const { started, queued, unchanged_target_ids } = await findWarnings.one(db, { id: commandId })
  if (started !== null) return { outcome: 'started', deployment_id: commandId, warnings: started }
  if (queued === null) return null
  const outcome = {
    outcome: 'queued',
    pending_request_id: commandId,
    message: QUEUED_MESSAGE,
    warnings: queued,
  } as const
  return unchanged_target_ids === null ? outcome : { ...outcome, unchanged_target_ids }
}
