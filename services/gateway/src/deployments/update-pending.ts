import { messageCaller } from '../callers/calling-user.ts'
import type { Dependencies } from '../dependencies.ts'
import type { HandlersOf } from '../handler.ts'
import { readItem } from './pending.ts'
import { sendRecordedCommand } from './recorded-command.ts'
import { requireActable } from './visible-deployment.ts'

export function updatePendingHandlers(dependencies: Dependencies): HandlersOf<'updatePending'> {
  const { database } = dependencies
  return {
    updatePending: {
      async handle(call) {
        const { caller, params, body } = call
        const { id, tenant_id } = await requireActable(database, caller, {
          kind: 'pending request',
          id: params['id'] ?? '',
          permission: 'deployments:create',
        })
        await sendRecordedCommand(
          dependencies,
          call,
          { resource_id: id, tenant_id },
          {
            type: 'pending.update',
            body: { pending_request_id: id, caller: messageCaller(caller), ...body },
            done: { pending_request_id: id },
          },
        )
        return { status: 200, body: await readItem(dependencies, caller, id) }
      },
    },
  }
}
