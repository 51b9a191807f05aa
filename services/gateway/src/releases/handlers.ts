import type { Dependencies } from '../dependencies.ts'
import type { HandlersOf } from '../http/handler.ts'
import { getDeploymentChanges } from './changes.ts'
import { getReleaseMatrix, listReleases, listTargetReleases } from './list.ts'

type ReleaseOperation = 'listReleases' | 'getReleaseMatrix' | 'listTargetReleases' | 'getDeploymentChanges'

export const releaseHandlers = ({ database }: Dependencies): HandlersOf<ReleaseOperation> => ({
  listReleases: { handle: (call) => listReleases(database, call) },
  getReleaseMatrix: { handle: (call) => getReleaseMatrix(database, call) },
  listTargetReleases: { handle: (call) => listTargetReleases(database, call) },
  getDeploymentChanges: { handle: (call) => getDeploymentChanges(database, call) },
})
