import type { CommandBody } from '@slipway/contracts'
import type { Answer } from '@slipway/http'
import { answerStream, Batches } from '@slipway/http'
import type { Subject } from '../audit-trail.ts'
import type { Dependencies } from '../dependencies.ts'
import type { Call } from '../handler.ts'
import { sendCommand, withinAnswerTime } from './command.ts'
import { stepBatches } from './steps.ts'

/** The most names of values in an audit record. */
const NAMED = 100

/** Answers with a preview. The planner answers with targets and actions, and this multiplies them into steps. */
export async function answerPreview(
  { database, broker }: Pick<Dependencies, 'database' | 'broker'>,
  message: CommandBody<'plan.preview'> | CommandBody<'plan.preview_redeploy'>,
  call: Call<'createDeployment' | 'previewDeployment' | 'redeployDeployment'>,
  subject: Subject,
): Promise<Answer> {
  const { requestId, bounds, body } = call
  const names = Object.keys({ ...body.variables, ...body.prompted_values }).sort()
  // The answer tells whether these values are in force, so the record is written before it is known.
  if (names.length > 0) {
    const details = { variables: names.slice(0, NAMED), variable_count: names.length }
    await withinAnswerTime(bounds, call.audit.previewed(database, { ...subject, details }))
  }
  const preview =
    'deployment_id' in message
      ? await sendCommand(broker, 'plan.preview_redeploy', message, { requestId, bounds })
      : await sendCommand(broker, 'plan.preview', message, { requestId, bounds })
  const { actions, targets, ...plan } = preview.plan
  const rows = targets.map(({ id, name }) => ({ target_id: id, target_name: name }))
  const steps = new Batches(stepBatches(message.command_id, actions, rows))
  return answerStream(200, { ...preview, plan: { ...plan, steps } })
}
