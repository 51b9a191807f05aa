import type { CommandBody } from '@slipway/contracts'
import { answerTogether, type Database } from '@slipway/database'
import { Problem } from '@slipway/domain'
import { currentTraceparent } from '@slipway/runtime'
import { type StartOutcome, startDeployments } from './start.ts'
import type { StartCommand } from './start-commands.ts'

const SMALL = { maxGroups: 1, maxGroupSize: 50 }
/** A command with more steps than this has a transaction of its own, so that small commands do not wait for it. */
const MANY_STEPS = 1_000
const LARGE = { maxGroups: 2, maxGroupSize: 1 }

/** @throws Problem */
export type StartDeployment = (
  command: CommandBody<'deployment.start'>,
  received: Pick<StartCommand, 'deadline' | 'request_id' | 'api_key'>,
) => Promise<StartOutcome | null>

/**
 * Starts deployments as startDeployments does. Commands that come at the same time, or while others start, share a transaction:
 * under load, many commands share what the transaction reads (goal 1).
 */
export function createStarter(database: Database): StartDeployment {
  const start = (commands: readonly StartCommand[]) => startDeployments(database, commands)
  const small = answerTogether(start, SMALL)
  const large = answerTogether(start, LARGE)
  return async (command, received) => {
    const isLarge = command.plan.targets.length * command.plan.actions.length > MANY_STEPS
    const end = await (isLarge ? large : small)({ command, traceparent: currentTraceparent(), ...received })
    if (end instanceof Problem) throw end
    return end
  }
}
