import type { Queryable } from '@slipway/database'
import type { Dependencies } from '../dependencies.ts'
import type { HandlersOf } from '../http/handler.ts'
import { messageCaller } from '../identity/calling-user.ts'
import { command } from './command.ts'
import { answerDetail, readDetail } from './detail.ts'
import { requireVisible } from './visible-deployment.ts'

export function cancelHandlers({ database, broker }: Dependencies): HandlersOf<'cancelDeployment' | 'cancelPending'> {
  return {
    cancelDeployment: {
      async handle({ caller, params, body, requestId, audit }) {
        audit.leaveToCommand()
        const { id } = await requireVisible(database, caller, 'deployment', params['id'] ?? '')
        const message = { deployment_id: id, caller: messageCaller(caller), ...body }
        await command(broker, 'deployment.cancel', message, {
          requestId,
          lookUp: async () =>
            (await isCancelled(database, 'deployments', 'state', id)) ? { deployment_id: id } : null,
        })
        return answerDetail(200, await readDetail(database, caller, id, { plan: 'none' }))
      },
    },

    cancelPending: {
      async handle({ caller, params, requestId, audit }) {
        audit.leaveToCommand()
        const { id } = await requireVisible(database, caller, 'pending request', params['id'] ?? '')
        const message = { pending_request_id: id, caller: messageCaller(caller) }
        await command(broker, 'pending.cancel', message, {
          requestId,
          lookUp: async () =>
            (await isCancelled(database, 'pending_requests', 'status', id)) ? { pending_request_id: id } : null,
        })
        return { status: 200 }
      },
    },
  }
}

async function isCancelled(db: Queryable, table: string, column: string, id: string): Promise<boolean> {
  const { rowCount } = await db.query(`SELECT FROM ${table} WHERE id = $1 AND ${column} = 'cancelled'`, [id])
  return rowCount === 1
}
