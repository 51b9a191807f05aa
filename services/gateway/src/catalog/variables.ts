import { type Queryable, sensitiveNames, type VariableOwner, variablesIdentity } from '@slipway/database'
import { MASK, mapValues, pointer, type VariableValues, validationProblem } from '@slipway/domain'
import type { KeyRing } from '@slipway/runtime'
import type { Viewer } from '../tenancy/visibility.ts'

/** Seals the variables of a record as one whole: which of them are secret is known only where they are used. */
export function sealVariables(
  keys: KeyRing,
  owner: VariableOwner,
  id: string,
  values: VariableValues | undefined,
): string | null {
  if (values === undefined || Object.keys(values).length === 0) return null
  return keys.seal(JSON.stringify(values), variablesIdentity(owner, id))
}

/**
 * Gives the values that are to be kept where these are given and `old` were there: a value that comes back as answers show
 * it stays what it was. Called before a transaction begins: one that waited for a second connection could wait for
 * itself. What it gives throws Problem VALIDATION_ERROR for a value that was not there.
 */
export async function givenVariables(
  db: Queryable,
  viewer: Viewer,
  values: VariableValues = {},
): Promise<(old?: VariableValues) => VariableValues> {
  const masked = Object.keys(values).filter((name) => values[name] === MASK)
  const sensitive = new Set(masked.length === 0 ? [] : await sensitiveNames(db, viewer))
  const hidden = new Set(masked.filter((name) => sensitive.has(name)))
  return (old = {}) => {
    const unknown = [...hidden].filter((name) => !Object.hasOwn(old, name))
    if (unknown.length > 0) {
      const message = `must be the value itself: ${MASK} is only how answers show it`
      throw validationProblem(unknown.map((name) => ({ path: pointer('variables', name), message })))
    }
    return mapValues(values, (name, value) => (hidden.has(name) ? old[name] : value))
  }
}

/** What a change does to variables, for the audit log: names alone, as any value may be a secret. */
export function variableChanges(old: VariableValues, values: VariableValues): { set: string[]; removed: string[] } {
  const same = (name: string) => Object.hasOwn(old, name) && JSON.stringify(old[name]) === JSON.stringify(values[name])
  return {
    set: Object.keys(values).filter((name) => !same(name)),
    removed: Object.keys(old).filter((name) => !Object.hasOwn(values, name)),
  }
}
