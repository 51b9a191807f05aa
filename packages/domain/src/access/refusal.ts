import { insufficientPermissions, Problem } from '../problem.ts'
import { type AccessObject, ANYTHING, isScoped, may, type Subject, type Verdict } from './may.ts'
import type { Permission } from './permissions.ts'

/** The names of what a refusal is about. */
export interface NamedObject {
  environments: readonly { id: string; name: string }[]
  source: { type: string; id: string; name: string } | null
}

/** Why a subject may do something or not, for people. */
export function because(permission: string, verdict: Verdict): string {
  if (verdict.allowed) {
    const scope = isScoped(verdict.by) ? ' in its scope' : ''
    return `Your role "${verdict.by.role}" gives ${permission}${scope}`
  }
  switch (verdict.why) {
    case 'no_role':
      return `None of your roles gives ${permission}`
    case 'key_scopes':
      return `Your API key does not have ${permission}`
    case 'limited':
      return `Your roles give ${permission} only for other environments or solutions`
    case 'key_limited':
      return `Your API key is limited to other environments or solutions`
  }
}

/** 403 for what a subject may not do; null if it may. `named` has the names of the object, for the details. */
export function accessProblem(
  subject: Subject,
  permission: Permission,
  object: AccessObject = ANYTHING,
  named: NamedObject = { environments: [], source: null },
): Problem | null {
  const verdict = may(subject, permission, object)
  if (verdict.allowed) return null
  if (verdict.why !== 'limited' && verdict.why !== 'key_limited') return insufficientPermissions(permission)
  const names = named.environments.map(({ name }) => `"${name}"`)
  const touched = [...names, ...(named.source === null ? [] : [`the ${named.source.type} "${named.source.name}"`])]
  const what = touched.length === 0 ? 'no environment' : touched.join(', ')
  const message = `${because(permission, verdict)}: this is about ${what}. Ask an administrator for a role in this scope`
  return new Problem('INSUFFICIENT_PERMISSIONS', message, { permission, ...named })
}

/** @throws Problem INSUFFICIENT_PERMISSIONS */
export function requireMay(subject: Subject, permission: Permission, object?: AccessObject, named?: NamedObject): void {
  const problem = accessProblem(subject, permission, object, named)
  if (problem !== null) throw problem
}
