import type { GivenRoleBinding, Static } from '@slipway/contracts'
import type { Queryable } from '@slipway/database'
import { type Binding, EVERYWHERE, type FieldError, type Scope, suggest, validationProblem } from '@slipway/domain'
import { uuidv7 } from '@slipway/runtime'
import type { Reference, References } from '../records/references.ts'
import { holdScope, resolvedScope, scopeReferences } from '../records/scopes.ts'
import { holdRoles, listRoleNames, replaceBindings } from './role-bindings.sql.ts'

type Given = Static<typeof GivenRoleBinding>
export const bindingReferences = (given: readonly Given[] = []): Reference[] =>
  given.flatMap((each, index) => scopeReferences(each, `/role_bindings/${index}`))

export interface NamedBinding extends Scope {
  role: string
}

export const resolvedBindings = (given: readonly Given[], references: References): NamedBinding[] =>
  given.map((each, index) => ({ role: each.role, ...resolvedScope(each, references, `/role_bindings/${index}`) }))

/**
 * The bindings of roles without and with scope. Their roles, environments and solutions stay until the transaction ends.
 * @throws Problem VALIDATION_ERROR for names that no role has, NOT_FOUND for records that are gone
 */
export async function holdBindings(
  tx: Queryable,
  { roles, scoped }: { roles: readonly string[]; scoped: readonly NamedBinding[] },
): Promise<Binding[]> {
  await holdScope(tx, scoped)
  const names = [...roles, ...scoped.map(({ role }) => role)]
  const found = new Map((await holdRoles.all(tx, { names })).map((role) => [role.name, role]))
  if (names.some((name) => !found.has(name))) {
    const known = (await listRoleNames.all(tx)).map(({ name }) => name)
    const check = (name: string, path: string): FieldError[] =>
      found.has(name) ? [] : [{ path, message: `is not the name of a role${suggest(name, known)}` }]
    throw validationProblem([
      ...roles.flatMap((name, index) => check(name, `/roles/${index}`)),
      ...scoped.flatMap(({ role }, index) => check(role, `/role_bindings/${index}/role`)),
    ])
  }
  const all = [...roles.map((role) => ({ role, ...EVERYWHERE })), ...scoped].flatMap(
    ({ role, ...scope }): Binding[] => {
      const known = found.get(role)
      return known === undefined ? [] : [{ role, role_id: known.id, permissions: known.permissions, ...scope }]
    },
  )
  return [...new Map(all.map((binding) => [keyOf(binding), binding])).values()]
}

/** Replaces all roles of a user. */
export async function setBindings(tx: Queryable, user_id: string, bindings: readonly Binding[]): Promise<void> {
  const given = bindings.map(({ role_id, environment_ids, solution_ids }) => {
    return { id: uuidv7(), role_id, environment_ids, solution_ids }
  })
  await replaceBindings.run(tx, { user_id, given })
}

/** The same text for two bindings that give the same. */
export const keyOf = ({ role, environment_ids, solution_ids }: NamedBinding): string =>
  JSON.stringify([role, environment_ids?.toSorted() ?? null, solution_ids?.toSorted() ?? null])
