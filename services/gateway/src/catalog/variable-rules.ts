import {
  checkValue,
  clashingNames,
  isSealed,
  MASK,
  pointer,
  type VariableType,
  valueSizeProblem,
} from '@slipway/domain'
import { isObject } from '@slipway/http'
import type { Check } from '../handler.ts'

type Problems = ReturnType<Check>

/** Other services would take such a value for a sealed one. */
const SEALED_FORM = 'must not be an object with the key $sealed'

/** Checks the values of variables. The schema checks their names. */
export function valueProblems(values: unknown, ...path: (string | number)[]): Problems {
  if (!isObject(values)) return []
  return Object.entries(values).flatMap(([name, value]) => {
    const message = isSealed(value) ? SEALED_FORM : valueSizeProblem(name, value)
    return message === null ? [] : [{ path: pointer(...path, name), message }]
  })
}

export function variableDefinitionProblems(definitions: unknown, ...path: (string | number)[]): Problems {
  if (!Array.isArray(definitions)) return []
  const named = definitions.map((definition) => (isObject(definition) ? definition : {}))
  return [
    ...named.flatMap((definition, index) => defaultProblems(definition, [...path, index, 'default'])),
    ...repeated(named, 'name', path),
    ...repeated(named, 'id', path),
    ...clashes(named, path),
  ]
}

function defaultProblems(definition: Record<string, unknown>, path: (string | number)[]): Problems {
  const { name, default: value, type, sensitive } = definition
  if (value === undefined) return []
  if (isSealed(value)) return [{ path: pointer(...path), message: SEALED_FORM }]
  if (sensitive === true && value === MASK) {
    return [{ path: pointer(...path), message: `must be the value itself: ${MASK} is only how answers show it` }]
  }
  const problem =
    checkValue({ type: (type ?? 'string') as VariableType, sensitive: sensitive === true }, value) ??
    valueSizeProblem(String(name), value)
  return problem === null ? [] : [{ path: pointer(...path), message: problem }]
}

function repeated(definitions: Record<string, unknown>[], field: 'name' | 'id', path: (string | number)[]): Problems {
  const seen = new Set<unknown>()
  return definitions.flatMap((definition, index) => {
    const value = definition[field]
    if (value === undefined || !seen.has(value)) {
      seen.add(value)
      return []
    }
    return [{ path: pointer(...path, index, field), message: 'is used by an earlier variable' }]
  })
}

function clashes(definitions: Record<string, unknown>[], path: (string | number)[]): Problems {
  const names = definitions.map((definition) => definition['name']).filter((name) => typeof name === 'string')
  return clashingNames(names).map(([first, second]) => ({
    path: pointer(...path, names.indexOf(second), 'name'),
    message: `differs from "${first}" only in case: both would be one environment variable`,
  }))
}
