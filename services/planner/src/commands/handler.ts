import type { Broker, Delivery } from '@slipway/broker'
import { PoisonMessage } from '@slipway/broker'
import type { CommandBody, Envelope, ReplyEnvelope } from '@slipway/contracts'
import type { Database } from '@slipway/database'
import { missingRecords, notFound, Problem, toErrorBody } from '@slipway/domain'
import { type KeyRing, type Logger, SecretError, uuidv7 } from '@slipway/runtime'
import { checkOverride, passFreezes } from '../freezes/blocking.ts'
import { checkPlanHash, planHash } from '../planning/plan-hash.ts'
import { type Planned, type PlanningResources, planRequest } from '../planning/planning.ts'
import { previewOf } from '../planning/preview.ts'
import { missingInRedeploy, redeployRequest } from '../planning/redeploy.ts'
import { createRequest, openValues } from '../planning/request.ts'
import { sealPlan } from '../planning/seal.ts'
import { capacityWarnings } from '../records/capacity.ts'
import { loadOriginal } from '../records/original.ts'
import { createSensitiveNames } from '../records/sensitive-names.ts'

export interface HandlerOptions {
  database: Database
  broker: Pick<Broker, 'publish' | 'reply'>
  keyRing: KeyRing
  logger: Logger
}

/** What is to be done with a plan: answer it, or have it started. */
type Outcome = { preview: ReturnType<typeof previewOf> } | { start: CommandBody<'deployment.start'> }

/**
 * Handles the planner's commands. A plan that is to be started goes on to the dispatcher, which answers whoever asked;
 * previews and refusals are answered here. Nothing is written, so a repeated command costs nothing.
 */
export function createCommandHandler({ database, broker, keyRing, logger }: HandlerOptions) {
  const resources: PlanningResources = { database, keyRing, sensitiveNames: createSensitiveNames(database) }

  return async (envelope: Envelope, delivery: Delivery): Promise<void> => {
    const answer = (reply: ReplyEnvelope) => broker.reply(delivery.replyTo, delivery.correlationId, reply)
    let outcome: Outcome
    try {
      outcome = await plan(resources, envelope)
    } catch (error) {
      const problem = refusalOf(error, logger)
      if (!problem) throw error
      answer({ ok: false, problem: toErrorBody(problem).error })
      return
    }
    if ('preview' in outcome) return answer({ ok: true, result: outcome.preview })
    await broker.publish([
      {
        exchange: 'commands',
        type: 'deployment.start',
        body: outcome.start,
        message_id: uuidv7(),
        request_id: envelope.request_id,
        ...(delivery.replyTo === undefined ? {} : { reply_to: delivery.replyTo }),
        ...(delivery.correlationId === undefined ? {} : { correlation_id: delivery.correlationId }),
        ...(envelope.deadline === undefined ? {} : { deadline: envelope.deadline }),
      },
    ])
  }
}

function plan(resources: PlanningResources, { type, body }: Envelope): Promise<Outcome> {
  switch (type) {
    case 'plan.preview':
      return planCreate(resources, body as CommandBody<'plan.preview'>, true)
    case 'plan.create': {
      const command = body as CommandBody<'plan.create'>
      return planCreate(resources, command, command.request.dry_run ?? false)
    }
    case 'plan.redeploy':
      return planRedeploy(resources, body as CommandBody<'plan.redeploy'>)
    default:
      throw new PoisonMessage(`the planner has no command ${type}`)
  }
}

async function planCreate(
  resources: PlanningResources,
  command: CommandBody<'plan.create'>,
  previewOnly: boolean,
): Promise<Outcome> {
  checkOverride(command.caller, command.request)
  const values = openValues(resources.keyRing, command.command_id, command.sealed_values)
  const planned = await planRequest(resources, createRequest(command, values), missingRecords)
  if (previewOnly) {
    const capacity = await capacityWarnings(resources.database, planned.plan.options.priority)
    const previewed = { ...planned, warnings: [...planned.warnings, ...capacity] }
    return { preview: previewOf(previewed, planHash(resources.keyRing, planned.plan)) }
  }
  return { start: startCommand(resources.keyRing, command, planned, null) }
}

async function planRedeploy(resources: PlanningResources, command: CommandBody<'plan.redeploy'>): Promise<Outcome> {
  const { database, keyRing } = resources
  checkOverride(command.caller, command.request)
  const original = await loadOriginal(database, command.caller, command.deployment_id)
  if (!original) throw notFound('The deployment')
  const given = openValues(keyRing, command.command_id, command.sealed_values)
  const request = redeployRequest(keyRing, command, original, given)
  const planned = await planRequest(resources, request, (missing) => missingInRedeploy(command.request, missing))
  return { start: startCommand(keyRing, command, planned, command.deployment_id) }
}

function startCommand(
  keyRing: KeyRing,
  { command_id, caller, request }: CommandBody<'plan.create'> | CommandBody<'plan.redeploy'>,
  planned: Planned,
  sourceDeploymentId: string | null,
): CommandBody<'deployment.start'> {
  checkPlanHash(keyRing, planned.plan, request.expected_plan_hash)
  return {
    command_id,
    caller,
    freeze_override: passFreezes(planned.freezes, request),
    plan: sealPlan(keyRing, command_id, planned.plan),
    selection: planned.selection,
    source_deployment_id: sourceDeploymentId,
  }
}

/** What the caller is to be told; undefined for a failure that may pass, so that the command is tried again. */
function refusalOf(error: unknown, logger: Logger): Problem | undefined {
  if (error instanceof Problem) return error
  if (!(error instanceof SecretError)) return undefined
  logger.error('a secret cannot be opened', { error })
  return new Problem('CONFIGURATION_ERROR', `A stored secret cannot be opened: ${error.message}`)
}
