import type { CommandType } from '@slipway/contracts'
import type { Answer } from '@slipway/http'
import { messageCaller } from '../callers/calling-user.ts'
import type { Dependencies } from '../dependencies.ts'
import type { Call, HandlersOf } from '../handler.ts'
import { readItem } from './pending.ts'
import { sendRecordedCommand } from './recorded-command.ts'
import { requireActable } from './visible-deployment.ts'

/** The dispatcher knows the rules of a request, so it decides who may approve or reject it. */
export function approvalHandlers(dependencies: Dependencies): HandlersOf<'approvePending' | 'rejectPending'> {
  return {
    approvePending: { handle: (call) => send(dependencies, call, 'pending.approve') },
    rejectPending: { handle: (call) => send(dependencies, call, 'pending.reject') },
  }
}

async function send(
  dependencies: Dependencies,
  call: Call<'approvePending' | 'rejectPending'>,
  type: Extract<CommandType, 'pending.approve' | 'pending.reject'>,
): Promise<Answer> {
  const { caller, params, body } = call
  const { id, tenant_id } = await requireActable(dependencies.database, caller, {
    kind: 'pending request',
    id: params['id'] ?? '',
    permission: 'deployments:approve',
  })
  const command = { pending_request_id: id, caller: messageCaller(caller), ...body }
  await sendRecordedCommand(
    dependencies,
    call,
    { resource_id: id, tenant_id },
    { type, body: command, done: { pending_request_id: id } },
  )
  return { status: 200, body: await readItem(dependencies, caller, id) }
}
