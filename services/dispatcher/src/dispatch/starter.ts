import type { CommandBody } from '@slipway/contracts'
import { answerTogether, MOST_STEPS } from '@slipway/database'
import { currentTraceparent } from '@slipway/runtime'
import type { StartOutcome, StartResult } from './commit.ts'
import { type Admission, type AdmissionOptions, admissionOf, type Round, runLargeRound, runRound } from './round.ts'
import type { StartCommand } from './start-commands.ts'

const SMALL = { maxGroups: 1, maxGroupSize: 50, maxGroupWeight: MOST_STEPS }
/** Plans with many rows are written beside each other. */
const LARGE = { maxGroups: 2, maxGroupSize: 1 }

/** @throws Problem */
export type StartDeployment = (
  command: CommandBody<'deployment.start'>,
  received: Pick<StartCommand, 'deadline' | 'request_id' | 'api_key'>,
) => Promise<StartOutcome | null>

/**
 * Starts each deployment that nothing blocks, and queues the others. Commands that come at the same time, or while others start, share
 * a round: under load, many commands share what the round reads (goal: create throughput). A repeated command gives the same result.
 */
export function createStarter(options: AdmissionOptions): StartDeployment {
  const admission = admissionOf(options)
  const small = answerTogether((commands) => answerAll(admission, commands), {
    ...SMALL,
    weightOf: ({ command }: StartCommand) => stepsOf(command),
  })
  const large = answerTogether(([command]: readonly StartCommand[]) => answerLarge(admission, command), LARGE)
  return async (command, received) => {
    const start = stepsOf(command) > MOST_STEPS ? large : small
    const answer = await start({ command, traceparent: currentTraceparent(), ...received })
    if (answer instanceof Error) throw answer
    return answer
  }
}

const stepsOf = ({ plan }: CommandBody<'deployment.start'>) => plan.targets.length * plan.actions.length

type Answer = StartResult | Error

async function answerAll(admission: Admission, commands: readonly StartCommand[]): Promise<Answer[]> {
  const answers = new Map<StartCommand, Answer>()
  for (let left = commands; left.length > 0; ) {
    const round = await runRound(admission, left)
    for (const command of left) if (!round.undecided.includes(command)) answers.set(command, answerTo(command, round))
    left = round.undecided
  }
  return commands.map((command) => answers.get(command) ?? null)
}

async function answerLarge(admission: Admission, command: StartCommand | undefined): Promise<Answer[]> {
  return command === undefined ? [] : [answerTo(command, await runLargeRound(admission, command))]
}

const answerTo = ({ command }: StartCommand, { answers }: Round): Answer => answers.get(command.command_id) ?? null
