import { array, nullable, type Queryable, statement, text, uuid } from '@slipway/database'
import { type AccessObject, accessProblem, type NamedObject, type Permission } from '@slipway/domain'
import type { CallingUser } from './calling-user.ts'

/** The names of environments and of a source. */
const findNames = statement({
  name: 'gateway.callers.find-names',
  parameters: { environment_ids: array(uuid), source_id: nullable(uuid) },
  row: { kind: text, id: uuid, name: text },
  sql: `SELECT 'environment' AS kind, id, name FROM environments WHERE id = ANY (:environment_ids)
     UNION ALL SELECT kind::text, id, name FROM sources WHERE id = :source_id`,
})

/**
 * Requires a permission for what a call touches.
 * @throws Problem INSUFFICIENT_PERMISSIONS with the names of what is touched
 */
export async function requireMayTouch(
  db: Queryable,
  caller: CallingUser,
  permission: Permission,
  object: AccessObject,
): Promise<void> {
  if (accessProblem(caller, permission, object) === null) return
  const problem = accessProblem(caller, permission, object, await namesOf(db, object))
  if (problem !== null) throw problem
}

async function namesOf(db: Queryable, object: AccessObject): Promise<NamedObject> {
  const found = await findNames.all(db, idsOf(object))
  const [source = null] = found.filter(({ kind }) => kind !== 'environment')
  return {
    environments: found.filter(({ kind }) => kind === 'environment').map(({ id, name }) => ({ id, name })),
    source: source && { type: source.kind, id: source.id, name: source.name },
  }
}

function idsOf(object: AccessObject): { environment_ids: string[]; source_id: string | null } {
  switch (object.kind) {
    case 'deployment':
      return { environment_ids: [...(object.environment_ids ?? [])], source_id: object.source?.id ?? null }
    case 'freeze':
      return {
        environment_ids: object.environment_id === null ? [] : [object.environment_id],
        source_id: object.solution_id,
      }
    case 'target':
      return { environment_ids: object.environment_id === null ? [] : [object.environment_id], source_id: null }
    case 'anything':
      return { environment_ids: [], source_id: null }
  }
}
