import type { OperationId } from '@slipway/contracts'
import type { Dependencies } from '../dependencies.ts'
import type { HandlersOf } from '../handler.ts'
import { agentHandlers } from './agents.ts'
import { environmentHandlers } from './environments.ts'
import { freezeHandlers } from './freezes.ts'
import { sourceHandlers } from './sources.ts'
import { tagHandlers } from './tags.ts'
import { targetHandlers } from './targets.ts'
import { tenantHandlers } from './tenants.ts'

type SourceOperation = Extract<
  OperationId,
  `${string}${'Action' | 'Sequence' | 'Solution'}${'' | 's' | `Version${'' | 's'}`}`
>

function allSourceHandlers(dependencies: Dependencies): HandlersOf<SourceOperation> {
  const action = sourceHandlers('action', dependencies)
  const sequence = sourceHandlers('sequence', dependencies)
  const solution = sourceHandlers('solution', dependencies)
  return {
    listActions: action.list,
    createAction: action.create,
    getAction: action.get,
    updateAction: action.update,
    deleteAction: action.delete,
    createActionVersion: action.createVersion,
    listActionVersions: action.listVersions,
    getActionVersion: action.getVersion,
    listSequences: sequence.list,
    createSequence: sequence.create,
    getSequence: sequence.get,
    updateSequence: sequence.update,
    deleteSequence: sequence.delete,
    createSequenceVersion: sequence.createVersion,
    listSequenceVersions: sequence.listVersions,
    getSequenceVersion: sequence.getVersion,
    listSolutions: solution.list,
    createSolution: solution.create,
    getSolution: solution.get,
    updateSolution: solution.update,
    deleteSolution: solution.delete,
    createSolutionVersion: solution.createVersion,
    listSolutionVersions: solution.listVersions,
    getSolutionVersion: solution.getVersion,
  }
}

export const catalogHandlers = (dependencies: Dependencies) => ({
  ...allSourceHandlers(dependencies),
  ...targetHandlers(dependencies),
  ...agentHandlers(dependencies),
  ...environmentHandlers(dependencies),
  ...tenantHandlers(dependencies),
  ...tagHandlers(dependencies),
  ...freezeHandlers(dependencies),
})
