import { Problem, type VariableValues } from '@slipway/domain'
import { type KeyRing, uuidv7 } from '@slipway/runtime'
import { type CallingUser, messageCaller } from '../callers/calling-user.ts'
import type { Dependencies } from '../dependencies.ts'
import type { Answer, HandlersOf } from '../http/handler.ts'
import { answerStream } from '../http/json-stream.ts'
import { inTime, sendCommand } from './command.ts'
import { readDetail } from './detail.ts'
import { startOnce } from './idempotency.ts'
import { answerPreview } from './preview.ts'
import { authorizeOverride, createRules, redeployRules } from './request-rules.ts'
import { findStartOutcome, type StartOutcome } from './start-outcome.ts'
import { requireVisible } from './visible-deployment.ts'

type CreateOperation = 'createDeployment' | 'previewDeployment' | 'redeployDeployment'

interface GivenValues {
  variables?: VariableValues
  prompted_values?: VariableValues
}

export function createHandlers({ database, broker, keys }: Dependencies): HandlersOf<CreateOperation> {
  const lookUp = (commandId: string) => () => findStartOutcome(database, commandId)
  const rules = { authorize: authorizeOverride, check: createRules }

  return {
    createDeployment: {
      ...rules,
      async handle(call) {
        const { caller, body, requestId, bounds, audit } = call
        const { dry_run, ...given } = body
        const messageOf = (commandId: string) => planCommand(keys, commandId, caller, given)
        if (dry_run === true) {
          audit.changesNothing()
          return answerPreview(broker, messageOf(uuidv7()), call)
        }
        const starting = startOnce({ database, keys }, call, 'POST /deployments', (commandId) => {
          audit.leaveToCommand(commandId)
          const effect = { lookUp: lookUp(commandId), forbid: audit.forbid }
          const options = { requestId, apiKey: caller.api_key, bounds, effect }
          return sendCommand(broker, 'plan.create', messageOf(commandId), options)
        })
        const started = await acceptUnchanged(starting)
        if (started.outcome === 'unchanged') {
          audit.changesNothing()
          return unchanged(started)
        }
        if (started.outcome === 'queued') return queued(started)
        const { deployment_id, warnings } = started
        const reading = readDetail(database, caller, deployment_id, { plan: 'full', asStarted: true })
        const detail = await inTime(bounds, reading)
        const message = 'The deployment has started'
        return answerStream(201, { deployment_id, pending: false, message, warnings, deployment: detail })
      },
    },

    previewDeployment: {
      ...rules,
      async handle(call) {
        const { dry_run: _dryRun, ...given } = call.body
        return answerPreview(broker, planCommand(keys, uuidv7(), call.caller, given), call)
      },
    },

    redeployDeployment: {
      authorize: authorizeOverride,
      check: redeployRules,
      async handle(call) {
        const { caller, params, body, requestId, bounds, audit } = call
        const { dry_run, ...given } = body
        if (dry_run === true) audit.changesNothing()
        const { id: deployment_id, tenant_id } = await requireVisible(
          database,
          caller,
          'deployment',
          params['id'] ?? '',
        )
        audit.about({ resource_id: deployment_id, tenant_id })
        const messageOf = (commandId: string) => ({ ...planCommand(keys, commandId, caller, given), deployment_id })
        if (dry_run === true) return answerPreview(broker, messageOf(uuidv7()), call)
        const scope = `POST /deployments/${deployment_id}/redeploy`
        const starting = startOnce({ database, keys }, call, scope, (commandId) => {
          audit.leaveToCommand(commandId)
          const effect = { lookUp: lookUp(commandId), forbid: audit.forbid }
          const options = { requestId, apiKey: caller.api_key, bounds, effect }
          return sendCommand(broker, 'plan.redeploy', messageOf(commandId), options)
        })
        const started = await acceptUnchanged(starting)
        if (started.outcome === 'unchanged') {
          audit.changesNothing()
          return unchanged(started)
        }
        if (started.outcome === 'queued') return queued(started)
        const reading = readDetail(database, caller, started.deployment_id, { plan: 'none', asStarted: true })
        const detail = await inTime(bounds, reading)
        return { status: 201, body: { ...detail, warnings: started.warnings } }
      },
    },
  }
}

interface Unchanged {
  outcome: 'unchanged'
  message: string
  unchanged_target_ids: unknown[]
}

/** With `only_changed`, the planner refuses a request that leaves no target. The caller has what was asked for: no error. */
async function acceptUnchanged(starting: Promise<StartOutcome>): Promise<StartOutcome | Unchanged> {
  try {
    return await starting
  } catch (error) {
    const ids = error instanceof Problem && error.code === 'CONFLICT' ? error.details?.['unchanged_target_ids'] : null
    if (!(error instanceof Problem) || !Array.isArray(ids)) throw error
    return { outcome: 'unchanged', message: error.message, unchanged_target_ids: ids }
  }
}

const unchanged = ({ message, unchanged_target_ids }: Unchanged): Answer => ({
  status: 200,
  body: { deployment_id: null, pending: false, message, unchanged_target_ids },
})

function queued(request: Extract<StartOutcome, { outcome: 'queued' }>): Answer {
  const { pending_request_id, message, warnings, unchanged_target_ids } = request
  // JSON leaves out what is undefined.
  return { status: 202, body: { pending_request_id, pending: true, message, warnings, unchanged_target_ids } }
}

/** The body of a command for the planner. Values may be secrets, so they are sealed for this command. */
function planCommand<R extends GivenValues>(
  keys: KeyRing,
  command_id: string,
  caller: CallingUser,
  { variables, prompted_values, ...request }: R,
) {
  const given = variables !== undefined || prompted_values !== undefined
  const sealed_values = given
    ? keys.seal(JSON.stringify({ variables, prompted_values }), `command:${command_id}`)
    : null
  return { command_id, caller: messageCaller(caller), request, sealed_values }
}
