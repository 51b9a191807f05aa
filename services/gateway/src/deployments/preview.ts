import type { CommandReply } from '@slipway/contracts'
import type { Answer } from '../http/handler.ts'
import { answerPieces, type Piece } from '../http/pieces.ts'
import { plannedSteps } from './steps.ts'

/** Answers with a preview. The planner tells targets and actions once each; here each target's steps are put into words. */
export function answerPreview(commandId: string, preview: CommandReply<'plan.preview'>): Promise<Answer> {
  return answerPieces(200, pieces(commandId, preview))
}

function* pieces(commandId: string, { plan, ...rest }: CommandReply<'plan.preview'>): Generator<Piece> {
  const { actions, targets, ...planRest } = plan
  yield `${JSON.stringify(rest).slice(0, -1)},"plan":${JSON.stringify(planRest).slice(0, -1)},"steps":[`
  yield* plannedSteps(commandId, { actions, targets })
  yield ']}}'
}
