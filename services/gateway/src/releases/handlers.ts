import type { Dependencies } from '../dependencies.ts'
import type { HandlersOf } from '../handler.ts'
import { getDeploymentChanges } from './changes.ts'
import { checkReleases } from './checks.ts'
import { getReleaseMatrix, listReleases, listTargetReleases } from './list.ts'
import { getPromotion } from './promotion.ts'
import { getRollback } from './rollback.ts'

type ReleaseOperation =
  | 'listReleases'
  | 'getReleaseMatrix'
  | 'listTargetReleases'
  | 'getDeploymentChanges'
  | 'getPromotion'
  | 'getRollback'
  | 'checkReleases'

export const releaseHandlers = (dependencies: Dependencies): HandlersOf<ReleaseOperation> => {
  const { database } = dependencies
  return {
    listReleases: { handle: (call) => listReleases(database, call) },
    getReleaseMatrix: { handle: (call) => getReleaseMatrix(database, call) },
    listTargetReleases: { handle: (call) => listTargetReleases(database, call) },
    getDeploymentChanges: { handle: (call) => getDeploymentChanges(database, call) },
    getPromotion: { handle: (call) => getPromotion(database, call) },
    getRollback: { handle: (call) => getRollback(database, call) },
    checkReleases: { handle: (call) => checkReleases(dependencies, call) },
  }
}
