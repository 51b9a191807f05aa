import { type AccessObject, because, may, type Permission, type SourceType, validationProblem } from '@slipway/domain'
import type { Dependencies } from '../dependencies.ts'
import type { HandlersOf } from '../handler.ts'
import { References } from '../records/references.ts'

/** Answers whether the caller may do something. */
export function rightHandlers({ database }: Pick<Dependencies, 'database'>): HandlersOf<'askRight'> {
  return {
    askRight: {
      async handle({ caller, query }) {
        const { permission, environment_id, source_type, source_id } = query
        if ((source_type === undefined) !== (source_id === undefined)) {
          const path = source_type === undefined ? 'query/source_type' : 'query/source_id'
          throw validationProblem([{ path, message: 'is required: give source_type and source_id, or neither' }])
        }
        const references = await References.resolve(database, caller, [
          ...(environment_id === undefined
            ? []
            : [{ path: 'query/environment_id', kind: 'environment' as const, id: environment_id }]),
          ...(source_type === undefined || source_id === undefined
            ? []
            : [{ path: 'query/source_id', kind: source_type, id: source_id }]),
        ])
        const source = references.id('query/source_id')
        const verdict = may(
          caller,
          permission,
          objectOf(permission, {
            environment_id: references.id('query/environment_id'),
            source: source === null || source_type === undefined ? null : { type: source_type, id: source },
          }),
        )
        return { status: 200, body: { allowed: verdict.allowed, because: because(permission, verdict) } }
      },
    },
  }
}

interface Asked {
  environment_id: string | null
  source: { type: SourceType; id: string } | null
}

/** What a question is about. What it leaves out is not asked. */
function objectOf(permission: Permission, { environment_id, source }: Asked): AccessObject {
  if (environment_id === null && source === null) return { kind: 'anything' }
  if (permission.startsWith('targets:')) return { kind: 'target', environment_id }
  if (permission.startsWith('freezes:')) {
    return { kind: 'freeze', environment_id, solution_id: source?.type === 'solution' ? source.id : null }
  }
  return { kind: 'deployment', environment_ids: environment_id === null ? null : [environment_id], source }
}
