import type { Broker } from '@slipway/broker'
import { type CommandBody, type CommandReply, NAMES_END, NAMES_OF_TARGETS } from '@slipway/contracts'
import type { Answer } from '../http/handler.ts'
import { answerPieces, type Piece } from '../http/pieces.ts'
import { command } from './command.ts'
import { plannedSteps, type TargetRow } from './steps.ts'

type Command = CommandBody<'plan.preview'> | CommandBody<'plan.preview_redeploy'>
type Preview = CommandReply<'plan.preview'>

/** Answers with a preview. The planner tells targets and actions once each; here each target's steps are put into words. */
export async function answerPreview(
  broker: Pick<Broker, 'request'>,
  message: Command,
  requestId: string,
): Promise<Answer> {
  const options = { requestId, accepts: NAMES_OF_TARGETS }
  const preview =
    'deployment_id' in message
      ? await command(broker, 'plan.preview_redeploy', message, options)
      : await command(broker, 'plan.preview', message, options)
  return answerPieces(200, pieces(message, preview))
}

function* pieces({ command_id, request }: Command, { plan, ...rest }: Preview): Generator<Piece> {
  const { actions, targets, ...planRest } = plan
  yield `${JSON.stringify(rest).slice(0, -1)},"plan":${JSON.stringify(planRest).slice(0, -1)},"steps":[`
  yield* plannedSteps(command_id, actions, targetsOf(targets, request.target_ids ?? []))
  yield ']}}'
}

function* targetsOf(targets: Preview['plan']['targets'], asked: readonly string[]): Generator<TargetRow> {
  if (Array.isArray(targets)) {
    for (const { id, name } of targets) yield { target_id: id, target_name: name }
    return
  }
  const ids = targets.ids ?? asked
  let index = 0
  for (const target_name of targets.names.split(NAMES_END)) {
    yield { target_id: ids[index] as string, target_name }
    index += 1
  }
}
