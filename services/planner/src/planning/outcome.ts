import { callHandler, MAX_MESSAGE_BYTES } from '@slipway/broker'
import type { CommandBody, CommandReply, CommandSteps, Envelope, ReplyEnvelope } from '@slipway/contracts'
import type { NewRequest } from '@slipway/database'
import { readComparedPlans, sealPlan } from '@slipway/database/read-models'
import { comparedDeployments, conflict, missingRecords, notFound, Problem, toErrorBody } from '@slipway/domain'
import { type Logger, SecretError } from '@slipway/runtime'
import { findOriginal } from '../records/original.sql.ts'
import { planTooLarge } from '../records/targets.ts'
import { checkOverride, freezeOverrideOf, rulesOverrideOf } from './freeze-override.ts'
import { checkPlanHash, planHash } from './plan-hash.ts'
import { type Planned, type PlanningResources, planRequest, type Unchanged } from './planning.ts'
import { previewOf } from './preview.ts'
import { missingInRedeploy, redeployRequest } from './redeploy.ts'
import { createRequest, openValues, type PlanningRequest, pinsOfDeployment } from './request.ts'
import { createWarnings, readStart } from './start.ts'

/** The result of a command message as JSON: an answer, or the message that starts the plan. */
export interface Outcome {
  kind: 'reply' | 'start'
  json: string
}

type PlanDecision = { answer: CommandReply<'plan.preview'> | Unchanged } | { start: CommandBody<'deployment.start'> }

/** Plans a command and returns its result, which may be a refusal. Throws if the message must be retried. */
export async function outcomeOf(resources: PlanningResources, envelope: Envelope, logger: Logger): Promise<Outcome> {
  try {
    const decided = await callHandler(stepsOf(resources), envelope)
    const outcome = 'answer' in decided ? reply({ ok: true, result: decided.answer }) : passOn(decided.start)
    return Buffer.byteLength(outcome.json) > MAX_MESSAGE_BYTES ? refusal(planTooLarge()) : outcome
  } catch (error) {
    const problem = refusalOf(error, logger)
    if (!problem) throw error
    return refusal(problem)
  }
}

const refusal = (problem: Problem): Outcome => reply({ ok: false, problem: toErrorBody(problem).error })

const reply = (envelope: ReplyEnvelope): Outcome => ({ kind: 'reply', json: JSON.stringify(envelope) })
const passOn = (command: CommandBody<'deployment.start'>): Outcome => ({ kind: 'start', json: JSON.stringify(command) })

/** The decision for each type of command message. */
const stepsOf = (resources: PlanningResources): CommandSteps<'planner.commands', PlanDecision> => ({
  'plan.preview': async (command) => preview(resources, await planCreate(resources, command, { compare: true })),
  'plan.create': async (command) => start(resources, await planCreate(resources, command, { compare: false }), null),
  'plan.preview_redeploy': async (command) =>
    preview(resources, await planRedeploy(resources, command, { compare: true })),
  'plan.redeploy': async (command) =>
    start(resources, await planRedeploy(resources, command, { compare: false }), command.deployment_id),
})

/** A command with its plan. */
interface PlannedCommand<C> {
  command: C
  planned: Planned | Unchanged
}

async function planCreate<C extends CommandBody<'plan.create'>>(
  resources: PlanningResources,
  command: C,
  options: Pick<PlanningRequest, 'compare'>,
): Promise<PlannedCommand<C>> {
  checkOverride(command.caller, command.request)
  const given = openValues(resources.keyRing, command.command_id, command.sealed_values)
  const { versions_of } = command.request
  const pinned = versions_of === undefined ? null : await findDeployment(resources, command.caller, versions_of)
  const missing = versions_of !== undefined && pinned === null ? [{ path: '/versions_of', id: versions_of }] : []
  const request = createRequest(command, given, {
    ...options,
    ...(pinned === null ? {} : { pins: pinsOfDeployment(pinned) }),
  })
  const planned = await planRequest(resources, request, missingRecords, missing)
  return { command, planned }
}

const findDeployment = (
  { database }: PlanningResources,
  { tenant_id }: CommandBody<'plan.create'>['caller'],
  id: string,
) => findOriginal.first(database, { id, tenant_id })

async function planRedeploy<C extends CommandBody<'plan.redeploy'>>(
  resources: PlanningResources,
  command: C,
  options: Pick<PlanningRequest, 'compare'>,
): Promise<PlannedCommand<C>> {
  const { keyRing } = resources
  checkOverride(command.caller, command.request)
  const original = await findDeployment(resources, command.caller, command.deployment_id)
  if (!original) throw notFound('The deployment')
  const given = openValues(keyRing, command.command_id, command.sealed_values)
  const request = redeployRequest(keyRing, command, original, given, options)
  const planned = await planRequest(resources, request, (missing) => missingInRedeploy(command.request, missing))
  return { command, planned }
}

type Command = CommandBody<'plan.create'> | CommandBody<'plan.redeploy'>

async function preview(
  { database, keyRing }: PlanningResources,
  { command, planned }: PlannedCommand<Command>,
): Promise<PlanDecision> {
  if (planned.outcome === 'unchanged') {
    throw conflict(planned.message, { unchanged_target_ids: planned.unchanged_target_ids })
  }
  const start = await readStart(database, planned, newRequest(command, planned))
  const compared = comparedDeployments(planned.inForce)
  const plans = await readComparedPlans(database, compared, command.caller.tenant_id)
  return { answer: previewOf({ planned, start, plans, plan_hash: planHash(keyRing, planned.plan) }) }
}

async function start(
  { database, keyRing }: PlanningResources,
  { command, planned }: PlannedCommand<Command>,
  sourceDeploymentId: string | null,
): Promise<PlanDecision> {
  if (planned.outcome === 'unchanged') return { answer: planned }
  const { command_id, request } = command
  const caller = withScope(command.caller, planned)
  checkPlanHash(keyRing, planned.plan, request.expected_plan_hash)
  const start: CommandBody<'deployment.start'> = {
    command_id,
    caller,
    freeze_override: freezeOverrideOf(request),
    rules_override: rulesOverrideOf(request),
    start_at: request.start_at ?? null,
    expires_at: request.expires_at ?? null,
    plan_hash: planHash(keyRing, planned.plan),
    plan: sealPlan(keyRing, planned.plan),
    selection: { ...planned.selection, target_ids: [...new Set(planned.selection.target_ids)] },
    source_deployment_id: sourceDeploymentId,
    warnings: await createWarnings(database, planned, newRequest(command, planned)),
  }
  return { start }
}

/** What the dispatcher would decide about. */
const newRequest = ({ command_id, caller, request }: Command, planned: Planned): NewRequest => ({
  id: command_id,
  deadline: null,
  plan: planned.plan,
  caller: withScope(caller, planned),
  override: request.override_freeze === true,
  rules: {
    override: request.override_rules === true,
    start_at: request.start_at === undefined ? null : new Date(request.start_at),
    expires_at: request.expires_at === undefined ? null : new Date(request.expires_at),
  },
})

const withScope = (caller: Command['caller'], { has_scope }: Planned): Command['caller'] =>
  has_scope ? { ...caller, has_scope } : caller

/** The error for the caller. Undefined for a temporary failure: then the message is retried. */
function refusalOf(error: unknown, logger: Logger): Problem | undefined {
  if (error instanceof Problem) return error
  if (!(error instanceof SecretError)) return undefined
  logger.error('a secret cannot be opened', { error })
  return new Problem('CONFIGURATION_ERROR', `A stored secret cannot be opened: ${error.message}`)
}
