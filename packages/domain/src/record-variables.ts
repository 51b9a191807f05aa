import type { VariableValues } from './plan-schema.ts'
import { type FieldError, pointer, validationProblem } from './problem.ts'
import { checkValue, MASK, mapValues } from './variables.ts'

/** Variables of a tenant, an environment or a target. No answer shows the values of the sensitive names. */
export interface RecordVariables {
  values: VariableValues
  /** Sorted, without duplicates, only names that have a value. */
  sensitive: readonly string[]
}

/** The fields for variables in a create or an update. */
export interface VariableChange {
  variables?: VariableValues
  sensitive_variables?: readonly string[]
}

export const NO_VARIABLES: RecordVariables = { values: {}, sensitive: [] }

/**
 * Applies a create (to `NO_VARIABLES`) or an update. The value `***` keeps the stored value. A sensitive name stays sensitive
 * until a request has both a new value and a list without the name.
 * @throws Problem VALIDATION_ERROR with everything that is wrong
 */
export function changeVariables(old: RecordVariables, change: VariableChange): RecordVariables {
  const { variables: given = {}, sensitive_variables: list = old.sensitive } = change
  const hidden = new Set([...old.sensitive, ...list])
  const keepsValue = (name: string) => given[name] === MASK && hidden.has(name)
  const values =
    change.variables === undefined
      ? old.values
      : mapValues(given, (name, value) => (keepsValue(name) ? old.values[name] : value))
  const sensitive = [...new Set(list)].filter((name) => Object.hasOwn(values, name)).sort()
  const errors = [
    ...valuesNotThere(old, given, keepsValue),
    ...namesWithoutVariable(values, change.sensitive_variables),
    ...valuesToBeRevealed(old, values, (name) => list.includes(name) || isNewValue(name)),
    ...shortValues(values, sensitive, isNewSecret),
  ]
  if (errors.length > 0) throw validationProblem(errors)
  return { values, sensitive }

  function isNewValue(name: string): boolean {
    return Object.hasOwn(given, name) && !keepsValue(name)
  }

  function isNewSecret(name: string): string | null {
    if (isNewValue(name)) return pointer('variables', name)
    return old.sensitive.includes(name) ? null : pointer('sensitive_variables', list.indexOf(name))
  }
}

function valuesNotThere(
  old: RecordVariables,
  given: VariableValues,
  keepsValue: (name: string) => boolean,
): FieldError[] {
  return Object.keys(given)
    .filter((name) => keepsValue(name) && !Object.hasOwn(old.values, name))
    .map((name) => ({
      path: pointer('variables', name),
      message: `must be the value itself: ${MASK} is only how answers show it`,
    }))
}

function namesWithoutVariable(values: VariableValues, list: readonly string[] = []): FieldError[] {
  return list.flatMap((name, index) =>
    Object.hasOwn(values, name)
      ? []
      : [
          {
            path: pointer('sensitive_variables', index),
            message: `no variable is named "${name}": add it or remove the name`,
          },
        ],
  )
}

/** Without this rule, a change of the list alone would show the value to everybody who can read the record. */
function valuesToBeRevealed(
  old: RecordVariables,
  values: VariableValues,
  mayLeaveOut: (name: string) => boolean,
): FieldError[] {
  return old.sensitive
    .filter((name) => Object.hasOwn(values, name) && !mayLeaveOut(name))
    .map((name) => ({
      path: '/sensitive_variables',
      message: `leaves out "${name}", whose value is secret: send a new value in variables with this list, or list the name`,
    }))
}

/** `placeOf` returns the field that made a value secret; null if it was secret before. */
function shortValues(
  values: VariableValues,
  sensitive: readonly string[],
  placeOf: (name: string) => string | null,
): FieldError[] {
  return sensitive.flatMap((name) => {
    const path = placeOf(name)
    if (path === null || values[name] === undefined) return []
    const problem = checkValue({ type: 'json', sensitive: true }, values[name])
    return problem === null ? [] : [{ path, message: `variable "${name}" ${problem}` }]
  })
}

/**
 * What a change does to variables, for the audit log: names only. A new value of a sensitive name always counts as set.
 * Otherwise readers of the audit log could test guesses of the old value.
 */
export function variableChanges(old: RecordVariables, now: RecordVariables, { variables = {} }: VariableChange) {
  const hidden = new Set([...old.sensitive, ...now.sensitive])
  const isSet = (name: string) => {
    if (!Object.hasOwn(old.values, name)) return true
    if (hidden.has(name)) return Object.hasOwn(variables, name) && variables[name] !== MASK
    return JSON.stringify(old.values[name]) !== JSON.stringify(now.values[name])
  }
  return {
    set: Object.keys(now.values).filter(isSet),
    removed: Object.keys(old.values).filter((name) => !Object.hasOwn(now.values, name)),
    made_sensitive: now.sensitive.filter((name) => !old.sensitive.includes(name)),
    made_readable: old.sensitive.filter((name) => Object.hasOwn(now.values, name) && !now.sensitive.includes(name)),
  }
}
