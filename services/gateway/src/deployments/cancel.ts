import { messageCaller } from '../callers/calling-user.ts'
import type { Dependencies } from '../dependencies.ts'
import type { HandlersOf } from '../handler.ts'
import { readDetail } from './detail.ts'
import { sendRecordedCommand } from './recorded-command.ts'
import { requireActable } from './visible-deployment.ts'

export function cancelHandlers(dependencies: Dependencies): HandlersOf<'cancelDeployment' | 'cancelPending'> {
  const { database } = dependencies
  return {
    cancelDeployment: {
      async handle(call) {
        const { caller, params, body } = call
        const { id, tenant_id } = await requireActable(database, caller, {
          kind: 'deployment',
          id: params['id'] ?? '',
          permission: 'deployments:cancel',
        })
        await sendRecordedCommand(
          dependencies,
          call,
          { resource_id: id, tenant_id },
          {
            type: 'deployment.cancel',
            body: { deployment_id: id, caller: messageCaller(caller), ...body },
            done: { deployment_id: id },
          },
        )
        return { status: 200, body: await readDetail(database, caller, id, { plan: 'none' }) }
      },
    },

    cancelPending: {
      async handle(call) {
        const { caller, params } = call
        const { id, tenant_id } = await requireActable(database, caller, {
          kind: 'pending request',
          id: params['id'] ?? '',
          permission: 'deployments:cancel',
        })
        await sendRecordedCommand(
          dependencies,
          call,
          { resource_id: id, tenant_id },
          {
            type: 'pending.cancel',
            body: { pending_request_id: id, caller: messageCaller(caller) },
            done: { pending_request_id: id },
          },
        )
        return { status: 200 }
      },
    },
  }
}
