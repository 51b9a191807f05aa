import type { CommandBody } from '@slipway/contracts'
import { answerTogether, type Database } from '@slipway/database'
import { Problem } from '@slipway/domain'
import { currentTraceparent } from '@slipway/runtime'
import type { Arrived } from './arrived.ts'
import { type StartOutcome, startDeployments } from './start.ts'

const SMALL = { underWay: 1, most: 50 }
/** Writing more steps than this takes longer than small commands should wait for. */
const MANY_STEPS = 1_000
const LARGE = { underWay: 2, most: 1 }

/** @throws Problem */
export type StartDeployment = (
  command: CommandBody<'deployment.start'>,
  received: Pick<Arrived, 'deadline' | 'request_id'>,
) => Promise<StartOutcome | null>

/**
 * Starts deployments as startDeployments does: those that come together or while others start share a transaction, which
 * under load serves many with all that is read for it.
 */
export function createStarter(database: Database): StartDeployment {
  const start = (arrived: readonly Arrived[]) => startDeployments(database, arrived)
  const small = answerTogether(start, SMALL)
  const large = answerTogether(start, LARGE)
  return async (command, received) => {
    const isLarge = command.plan.targets.length * command.plan.actions.length > MANY_STEPS
    const end = await (isLarge ? large : small)({ command, traceparent: currentTraceparent(), ...received })
    if (end instanceof Problem) throw end
    return end
  }
}
