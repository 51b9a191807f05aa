import type { CommandBody } from '@slipway/contracts'
import type { VariableValues } from '@slipway/domain'
import type { Answer } from '@slipway/http'
import { answerStream } from '@slipway/http'
import { type KeyRing, uuidv7 } from '@slipway/runtime'
import type { Subject } from '../audit-trail.ts'
import { type CallingUser, messageCaller } from '../callers/calling-user.ts'
import type { Dependencies } from '../dependencies.ts'
import type { Call, HandlersOf } from '../handler.ts'
import { withinAnswerTime } from './command.ts'
import { readDetail } from './detail.ts'
import { answerPreview } from './preview.ts'
import { authorizeOverride, createRules, redeployRules } from './request-rules.ts'
import { startOnce } from './start.ts'
import { requireVisible } from './visible-deployment.ts'

type CreateOperation = 'createDeployment' | 'previewDeployment' | 'redeployDeployment'

export function createHandlers(dependencies: Dependencies): HandlersOf<CreateOperation> {
  const { database, keys } = dependencies
  return {
    createDeployment: {
      authorize: authorizeOverride,
      check: createRules,
      async handle(call) {
        const { dry_run, ...request } = call.body
        if (dry_run === true) call.audit.changesNothing()
        return deploy(dependencies, call, planCommand(keys, call.caller, request), subjectOf(call))
      },
    },

    previewDeployment: {
      authorize: authorizeOverride,
      check: createRules,
      async handle(call) {
        const { dry_run: _dryRun, ...request } = call.body
        return answerPreview(dependencies, planCommand(keys, call.caller, request), call, subjectOf(call))
      },
    },

    redeployDeployment: {
      authorize: authorizeOverride,
      check: redeployRules,
      async handle(call) {
        const { caller, params, audit } = call
        const { dry_run, ...request } = call.body
        if (dry_run === true) audit.changesNothing()
        const original = await requireVisible(database, caller, 'deployment', params['id'] ?? '')
        const subject = { resource_id: original.id, tenant_id: original.tenant_id }
        audit.about(subject)
        return deploy(
          dependencies,
          call,
          { ...planCommand(keys, caller, request), deployment_id: original.id },
          subject,
        )
      },
    },
  }
}

/** The way of a create or redeploy that is authorized and valid. */
async function deploy(
  dependencies: Dependencies,
  call: Call<'createDeployment' | 'redeployDeployment'>,
  command: CommandBody<'plan.create'> | CommandBody<'plan.redeploy'>,
  subject: Subject,
): Promise<Answer> {
  const { caller, bounds } = call
  if (call.body.dry_run === true) return answerPreview(dependencies, command, call, subject)

  const result = await withinAnswerTime(bounds, startOnce(dependencies, call, command))
  if (result.outcome === 'unchanged') {
    call.audit.changesNothing()
    const { message, unchanged_target_ids } = result
    return { status: 200, body: { deployment_id: null, pending: false, message, unchanged_target_ids } }
  }
  const { warnings } = result
  if (result.outcome === 'queued') {
    const { pending_request_id, message, unchanged_target_ids } = result
    // JSON leaves out what is undefined.
    return { status: 202, body: { pending_request_id, pending: true, message, warnings, unchanged_target_ids } }
  }
  const { deployment_id } = result
  const isRedeploy = 'deployment_id' in command
  const reading = { plan: isRedeploy ? 'none' : 'full', asStarted: true } as const
  const deployment = await withinAnswerTime(bounds, readDetail(dependencies.database, caller, deployment_id, reading))
  if (isRedeploy) return { status: 201, body: { ...deployment, warnings } }
  const message = 'The deployment has started'
  return answerStream(201, { deployment_id, pending: false, message, warnings, deployment })
}

/** A create has no id before it is carried out. */
const subjectOf = ({ caller, body }: Call<'createDeployment' | 'previewDeployment'>): Subject => ({
  resource_id: null,
  // A caller of a tenant may name another one and is refused: that one does not see the record.
  tenant_id: caller.tenant_id ?? body.tenant_id ?? null,
})

interface GivenValues {
  variables?: VariableValues
  prompted_values?: VariableValues
}

/** The body of a command for the planner. Values may be secrets, so they are sealed for this command. */
function planCommand<R extends GivenValues>(
  keys: KeyRing,
  caller: CallingUser,
  { variables, prompted_values, ...request }: R,
) {
  const command_id = uuidv7()
  const given = variables !== undefined || prompted_values !== undefined
  const sealed_values = given
    ? keys.seal(JSON.stringify({ variables, prompted_values }), `command:${command_id}`)
    : null
  return { command_id, caller: messageCaller(caller), request, sealed_values }
}
