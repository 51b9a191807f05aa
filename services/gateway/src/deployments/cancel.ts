import type { Queryable } from '@slipway/database'
import { uuidv7 } from '@slipway/runtime'
import type { Dependencies } from '../dependencies.ts'
import type { HandlersOf } from '../http/handler.ts'
import { answerPieces } from '../http/pieces.ts'
import { messageCaller } from '../identity/calling-user.ts'
import { command } from './command.ts'
import { readDetail } from './detail.ts'
import { requireVisible } from './visible-deployment.ts'

export function cancelHandlers({ database, broker }: Dependencies): HandlersOf<'cancelDeployment' | 'cancelPending'> {
  return {
    cancelDeployment: {
      async handle({ caller, params, body, requestId, audit }) {
        const { id, tenant_id } = await requireVisible(database, caller, 'deployment', params['id'] ?? '')
        audit.about({ resource_id: id, tenant_id })
        const message = { deployment_id: id, caller: messageCaller(caller), ...body }
        const commandId = uuidv7()
        audit.leaveToCommand(commandId)
        const lookUp = async () => ((await tookEffect(database, commandId)) ? { deployment_id: id } : null)
        const effect = { lookUp, forbid: audit.forbid }
        await command(broker, 'deployment.cancel', message, { requestId, commandId, effect })
        return answerPieces(200, await readDetail(database, caller, id, { plan: 'none' }))
      },
    },

    cancelPending: {
      async handle({ caller, params, requestId, audit }) {
        const { id, tenant_id } = await requireVisible(database, caller, 'pending request', params['id'] ?? '')
        audit.about({ resource_id: id, tenant_id })
        const message = { pending_request_id: id, caller: messageCaller(caller) }
        const commandId = uuidv7()
        audit.leaveToCommand(commandId)
        const lookUp = async () => ((await tookEffect(database, commandId)) ? { pending_request_id: id } : null)
        const effect = { lookUp, forbid: audit.forbid }
        await command(broker, 'pending.cancel', message, { requestId, commandId, effect })
        return { status: 200 }
      },
    },
  }
}

/** Whether this very command was carried out: somebody else may have done the same at the same time. */
export async function tookEffect(db: Queryable, commandId: string): Promise<boolean> {
  const { rowCount } = await db.query('SELECT FROM audit_records WHERE id = $1', [commandId])
  return rowCount === 1
}
