import type { OperationId } from '@slipway/contracts'
import { answerStream } from '@slipway/http'
import type { Dependencies } from '../dependencies.ts'
import type { HandlersOf } from '../handler.ts'
import { listCommandResults } from './analysis.ts'
import { approvalHandlers } from './approve.ts'
import { cancelHandlers } from './cancel.ts'
import { createHandlers } from './create.ts'
import { readDetail } from './detail.ts'
import { createLogReader } from './history.ts'
import { listDeployments } from './list.ts'
import { listTargetDeployments } from './of-target.ts'
import { getPending, listPending } from './pending.ts'
import { updatePendingHandlers } from './update-pending.ts'

type ReadOperation = Extract<
  OperationId,
  | 'listDeployments'
  | 'listTargetDeployments'
  | 'getDeployment'
  | 'listPending'
  | 'getPending'
  | 'listDeploymentLogs'
  | 'readDeploymentLogText'
  | 'listCommandResults'
>

function readHandlers({ database, keys }: Dependencies): HandlersOf<ReadOperation> {
  const { listLogs, readText } = createLogReader(database)
  return {
    listDeployments: { handle: (call) => listDeployments(database, call) },
    listTargetDeployments: { handle: (call) => listTargetDeployments(database, call) },
    getDeployment: {
      handle: async ({ caller, params }) =>
        answerStream(200, await readDetail(database, caller, params['id'] ?? '', { plan: 'full' })),
    },
    listPending: { handle: (call) => listPending(database, call) },
    getPending: { handle: (call) => getPending({ database, keys }, call) },
    listDeploymentLogs: { handle: listLogs },
    readDeploymentLogText: { handle: readText },
    listCommandResults: { handle: (call) => listCommandResults(database, call) },
  }
}

export const deploymentHandlers = (dependencies: Dependencies) => ({
  ...readHandlers(dependencies),
  ...createHandlers(dependencies),
  ...cancelHandlers(dependencies),
  ...updatePendingHandlers(dependencies),
  ...approvalHandlers(dependencies),
})
