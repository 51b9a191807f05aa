import type { Broker } from '@slipway/broker'
import type { CommandBody } from '@slipway/contracts'
import type { Answer, Call } from '../http/handler.ts'
import { answerStream, Batches } from '../http/json-stream.ts'
import { sendCommand } from './command.ts'
import { stepBatches } from './steps.ts'

/** Answers with a preview. The planner answers with targets and actions, and this multiplies them into steps. */
export async function answerPreview(
  broker: Pick<Broker, 'request'>,
  message: CommandBody<'plan.preview'> | CommandBody<'plan.preview_redeploy'>,
  { requestId, bounds }: Pick<Call, 'requestId' | 'bounds'>,
): Promise<Answer> {
  const preview =
    'deployment_id' in message
      ? await sendCommand(broker, 'plan.preview_redeploy', message, { requestId, bounds })
      : await sendCommand(broker, 'plan.preview', message, { requestId, bounds })
  // A planner of the release before sends none of these.
  const { replaces = [], unchanged_targets = [] } = preview
  const { actions: planned, targets, versions = [], ...plan } = preview.plan
  const actions = planned.map((action) => ({ sequence_version: '', action_version: '', ...action }))
  const rows = targets.map(({ id, name }) => ({ target_id: id, target_name: name }))
  const steps = new Batches(stepBatches(message.command_id, actions, rows))
  return answerStream(200, { ...preview, replaces, unchanged_targets, plan: { ...plan, versions, steps } })
}
