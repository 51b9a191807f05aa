import { type CommandReply, QUEUED_MESSAGE } from '@slipway/contracts'
import { jsonb, nullable, type Queryable, statement, uuid } from '@slipway/database'

/** The warnings of the deployment or pending request that a command created. */
const findWarnings = statement({
  name: 'gateway.deployments.find-warnings',
  parameters: { id: uuid },
  row: {
    started: nullable(jsonb<string[]>()),
    queued: nullable(jsonb<string[]>()),
    unchanged_target_ids: nullable(jsonb<string[]>()),
  },
  sql: `SELECT (SELECT warnings FROM deployments WHERE id = :id) AS started,
       (SELECT coalesce(command -> 'warnings', '[]') FROM pending_requests WHERE id = :id) AS queued,
       (SELECT command #> '{selection,unchanged_target_ids}' FROM pending_requests WHERE id = :id) AS unchanged_target_ids`,
})

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
