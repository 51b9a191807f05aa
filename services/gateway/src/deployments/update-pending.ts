import { listItem } from '@slipway/database'
import { uuidv7 } from '@slipway/runtime'
import type { Dependencies } from '../dependencies.ts'
import type { HandlersOf } from '../http/handler.ts'
import { messageCaller } from '../identity/calling-user.ts'
import { tookEffect } from './cancel.ts'
import { command } from './command.ts'
import { requireVisible } from './visible-deployment.ts'

export function updatePendingHandlers({ database, broker, keys }: Dependencies): HandlersOf<'updatePending'> {
  return {
    updatePending: {
      async handle({ caller, params, body, requestId, audit }) {
        const { id, tenant_id } = await requireVisible(database, caller, 'pending request', params['id'] ?? '')
        audit.about({ resource_id: id, tenant_id })
        const message = { pending_request_id: id, caller: messageCaller(caller), ...body }
        const commandId = uuidv7()
        audit.leaveToCommand(commandId)
        const lookUp = async () => ((await tookEffect(database, commandId)) ? { pending_request_id: id } : null)
        const effect = { lookUp, forbid: audit.forbid }
        await command(broker, 'pending.update', message, { requestId, commandId, effect })
        return { status: 200, body: await listItem({ db: database, keys, viewer: caller }, 'pending', id) }
      },
    },
  }
}
