import { BrokerUnavailable } from '@slipway/broker'
import type { CommandBody, CommandReply } from '@slipway/contracts'
import { Problem } from '@slipway/domain'
import type { Dependencies } from '../dependencies.ts'
import type { Call } from '../handler.ts'
import { sendCommand } from './command.ts'
import { releaseKey } from './idempotency.sql.ts'
import { keyOf, takeKeyOrReplay } from './idempotency.ts'
import { findStartOutcome } from './start-outcome.ts'

type PlanOutcome = CommandReply<'plan.create'>

/**
 * Starts a deployment, only once for each `Idempotency-Key`. The key is stored with the id of the command before the command is
 * sent. A repeated call reads the rows that the command wrote, so any gateway can answer it. A call that creates nothing frees
 * its key.
 * @throws Problem CONFLICT if the key was used with another body, or as sendCommand() does
 */
export async function startOnce(
  dependencies: Dependencies,
  call: Call<'createDeployment' | 'redeployDeployment'>,
  command: CommandBody<'plan.create'> | CommandBody<'plan.redeploy'>,
): Promise<PlanOutcome> {
  const { database, keys } = dependencies
  const { command_id } = command
  const scope = 'deployment_id' in command ? `/deployments/${command.deployment_id}/redeploy` : '/deployments'
  const key = keyOf(call, `POST ${scope}`)
  if (key === null) return send(dependencies, call, command)

  const earlier = await takeKeyOrReplay({ database, keys }, call, key, command_id)
  if (earlier !== null) return earlier

  let result: PlanOutcome
  try {
    result = await send(dependencies, call, command)
  } catch (error) {
    // After any other error, the command may have taken effect. The next call with this key finds out.
    if (createdNothing(error)) await releaseKey.run(database, { ...key, command_id })
    throw error
  }
  if (result.outcome === 'unchanged') await releaseKey.run(database, { ...key, command_id })
  return result
}

function send(
  { database, broker }: Dependencies,
  { caller, requestId, bounds, audit }: Call<'createDeployment' | 'redeployDeployment'>,
  command: CommandBody<'plan.create'> | CommandBody<'plan.redeploy'>,
): Promise<PlanOutcome> {
  const { command_id } = command
  audit.leaveToCommand(command_id)
  const effect = { lookUp: () => findStartOutcome(database, command_id), forbid: audit.forbid }
  const options = { requestId, apiKey: caller.api_key, bounds, effect }
  return 'deployment_id' in command
    ? sendCommand(broker, 'plan.redeploy', command, options)
    : sendCommand(broker, 'plan.create', command, options)
}

const createdNothing = (error: unknown): boolean =>
  error instanceof Problem || (error instanceof BrokerUnavailable && !error.mayHaveBeenSent)
