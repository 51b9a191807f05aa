import type { SourceType } from '../plan-schema.ts'
import { ADMIN_ROLE, type Permission } from './permissions.ts'

/** To which environments and solutions a right is limited. Null: no limit. */
export interface Scope {
  environment_ids: readonly string[] | null
  solution_ids: readonly string[] | null
}

/** A role of a user. Without a scope it gives all its permissions. */
export interface Binding extends Scope {
  role: string
  role_id: string
  permissions: readonly string[]
}

/** What an API key leaves of the rights of its user. No scopes: all of its permissions. */
export interface KeyLimits extends Scope {
  scopes: readonly string[]
}

/** Who wants to do something: a user, with the API key of the call. */
export interface Subject {
  bindings: readonly Binding[]
  key: KeyLimits | null
}

/** What a deployment touches: the environments that it names and those of its targets, and one source. */
export interface TouchedByDeployment {
  kind: 'deployment'
  environment_ids: readonly string[]
  source: { type: SourceType; id: string }
}

/** What a right is asked for. `anything`: whether there is something for which the subject has it. */
export type AccessObject =
  | TouchedByDeployment
  /** Null is not asked. */
  | { kind: 'deployment'; environment_ids: readonly string[] | null; source: TouchedByDeployment['source'] | null }
  | { kind: 'freeze'; environment_id: string | null; solution_id: string | null }
  | { kind: 'target'; environment_id: string | null }
  | { kind: 'anything' }

export const ANYTHING: AccessObject = { kind: 'anything' }

/** `limited`: the subject has the permission, but not for this. */
export type Refusal = 'no_role' | 'key_scopes' | 'limited' | 'key_limited'

export type Verdict = { allowed: true; by: Binding } | { allowed: false; why: Refusal }

/** The permissions that a binding with a scope gives within it, and that a narrowed key keeps within its own. */
export const ACTING_PERMISSIONS = [
  'deployments:create',
  'deployments:cancel',
  'deployments:approve',
  'freezes:create',
  'freezes:update',
  'freezes:delete',
  'targets:create',
  'targets:update',
  'targets:delete',
] as const satisfies readonly Permission[]

const ACTING: ReadonlySet<string> = new Set(ACTING_PERMISSIONS)

export const isActing = (permission: string): boolean => ACTING.has(permission)
const isReading = (permission: string) => permission.endsWith(':read')

export const isScoped = ({ environment_ids, solution_ids }: Scope): boolean =>
  environment_ids !== null || solution_ids !== null

/**
 * Whether a subject may do something. The only place that decides it. One binding must cover the whole object, and so must the limits of
 * the API key.
 */
export function may({ bindings, key }: Subject, permission: Permission, object: AccessObject = ANYTHING): Verdict {
  const giving = bindings.filter((binding) => gives(binding, permission))
  if (giving.length === 0) return { allowed: false, why: 'no_role' }
  if (key !== null && !passesKey(key, permission)) return { allowed: false, why: 'key_scopes' }
  const by = giving.find((binding) => reaches(binding, permission, object))
  if (by === undefined) return { allowed: false, why: 'limited' }
  if (key !== null && !reaches(key, permission, object)) return { allowed: false, why: 'key_limited' }
  return { allowed: true, by }
}

/** Whether a binding gives a permission, within its scope or without. */
const gives = (binding: Binding, permission: string) =>
  isGivenBy(binding, permission) &&
  // A role of their own makes nobody an administrator.
  (permission !== 'deployments:override' || binding.role === ADMIN_ROLE)

const isGivenBy = (binding: Binding, permission: string) =>
  binding.permissions.includes(permission) && (!isScoped(binding) || isReading(permission) || isActing(permission))

const passesKey = (key: KeyLimits, permission: string) =>
  (key.scopes.length === 0 || key.scopes.includes(permission)) &&
  (!isScoped(key) || isReading(permission) || isActing(permission))

const reaches = (scope: Scope, permission: string, object: AccessObject) =>
  !isScoped(scope) || !isActing(permission) || covers(scope, object)

/** Whether a scope covers the whole object. */
function covers({ environment_ids, solution_ids }: Scope, object: AccessObject): boolean {
  switch (object.kind) {
    case 'anything':
      return true
    case 'deployment': {
      const { environment_ids: touched, source } = object
      if (touched?.length === 0 || !includesAll(environment_ids, touched ?? [])) return false
      if (solution_ids === null || source === null) return true
      return source.type === 'solution' && solution_ids.includes(source.id)
    }
    case 'freeze':
      return isIn(environment_ids, object.environment_id) && isIn(solution_ids, object.solution_id)
    case 'target':
      return solution_ids === null && isIn(environment_ids, object.environment_id)
  }
}

const isIn = (limit: readonly string[] | null, id: string | null) =>
  limit === null || (id !== null && limit.includes(id))

/** Whether what a subject may do depends on what it touches. */
export const dependsOnScope = ({ bindings, key }: Subject): boolean =>
  bindings.some(isScoped) || (key !== null && isScoped(key))

export const EVERYWHERE: Scope = { environment_ids: null, solution_ids: null }

/** The permissions that a subject has without a scope. */
export const permissionsOf = (subject: Subject): string[] =>
  [...new Set(subject.bindings.flatMap(({ permissions }) => permissions))]
    .filter((permission) => mayWithin(subject, permission, EVERYWHERE, isGivenBy))
    .sort()

/** Whether a subject has a permission without a scope: then no question about what is touched is needed. */
export const mayEverywhere = (subject: Subject, permission: Permission): boolean =>
  mayWithin(subject, permission, EVERYWHERE)

/** Whether a subject has a permission in all of a scope. One binding must have all of it. */
function mayWithin({ bindings, key }: Subject, permission: string, scope: Scope, givenBy = gives): boolean {
  const isWithin = (wider: Scope) => !isScoped(wider) || !isActing(permission) || includesScope(wider, scope)
  if (key !== null && !(passesKey(key, permission) && isWithin(key))) return false
  return bindings.some((binding) => givenBy(binding, permission) && isWithin(binding))
}

const isAdminWithin = ({ bindings, key }: Subject, scope: Scope) =>
  (key === null || passesKey(key, 'deployments:override')) &&
  bindings.some((binding) => binding.role === ADMIN_ROLE && (!isScoped(binding) || includesScope(binding, scope)))

const includesScope = (wider: Scope, scope: Scope) =>
  includesAll(wider.environment_ids, scope.environment_ids) && includesAll(wider.solution_ids, scope.solution_ids)

const includesAll = (wider: readonly string[] | null, ids: readonly string[] | null) =>
  wider === null || (ids?.every((id) => wider.includes(id)) ?? false)

/**
 * The permissions of these bindings that a subject cannot give, because it lacks them in that scope. Nobody gives what they lack.
 */
export function lackedBy(subject: Subject, bindings: readonly Binding[]): string[] {
  const lacked = bindings.flatMap((binding) => [
    ...binding.permissions.filter(
      (permission) => isGivenBy(binding, permission) && !mayWithin(subject, permission, binding, isGivenBy),
    ),
    // The role admin gives more than its permissions: overrides, and approvals that ask for it. Only an administrator gives it.
    ...(binding.role === ADMIN_ROLE && !isAdminWithin(subject, binding) ? ['deployments:override'] : []),
  ])
  return [...new Set(lacked)].sort()
}

/** Whether a subject has a role for an object: without a scope, or in one that covers it. */
export const hasRole = ({ bindings }: Subject, roleId: string, object: AccessObject): boolean =>
  bindings.some((binding) => binding.role_id === roleId && (!isScoped(binding) || covers(binding, object)))
