import { findChangedDigits, isAsWritten, type Schema } from '@slipway/client'
import type { Form, RawValue } from './form.ts'

export type Variable = Schema<'VariableDefinition'>

/** Whether the variable holds a list of texts, as far as its default tells. */
export const isList = ({ type, default: value }: Variable) =>
  type === 'json' && Array.isArray(value) && value.every((item) => typeof item === 'string')

const CHANGED_DIGITS = 'A number would lose digits: write it without outer zeros and exponent, or as text in JSON'

const isGiven = (raw: RawValue | undefined): raw is RawValue => raw !== undefined && raw.length > 0

/** Why the input is no value of the variable, or null. The server checks the rest. */
export function valueProblem(variable: Variable, raw: RawValue | undefined): string | null {
  if (!isGiven(raw)) return null
  const { type } = variable
  if (type === 'number' && !Number.isFinite(Number(raw))) return 'Must be a number'
  if (type === 'number' && !isAsWritten(Number(raw), String(raw))) return CHANGED_DIGITS
  if (type === 'json' && typeof raw === 'string') {
    if (parseJson(raw) === undefined) return 'Must be JSON'
    if (findChangedDigits(raw) !== null) return CHANGED_DIGITS
  }
  return null
}

/** The values that were given, as the API takes them. Inputs of other source versions are left out. */
export function givenValues(variables: readonly Variable[], values: Record<string, RawValue>): Record<string, unknown> {
  return Object.fromEntries(
    variables.flatMap((variable) => {
      const raw = values[variable.name]
      return isGiven(raw) ? [[variable.name, parseValue(variable, raw)]] : []
    }),
  )
}

function parseValue({ type }: Variable, raw: RawValue): unknown {
  if (typeof raw !== 'string') return raw
  if (type === 'number') return Number(raw)
  if (type === 'boolean') return raw === 'true'
  return type === 'json' ? parseJson(raw) : raw
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/**
 * Values for the required variables without a default. A preview that only counts targets needs them, because the server
 * refuses a preview in which one is missing.
 */
export function placeholderValues(variables: readonly Variable[]): Record<string, unknown> {
  const placeholders = { string: 'placeholder', number: 1_000, boolean: false, json: ['placeholder'] }
  return Object.fromEntries(
    variables
      .filter((variable) => variable.required && variable.default === undefined)
      .map(({ name, type }) => [name, placeholders[type ?? 'string']]),
  )
}

/** The values of the earlier deployment that the version does not declare. Scripts and templates may use them all the same. */
export function undeclaredValues(
  { repeated }: Pick<Form, 'repeated'>,
  variables: readonly Variable[],
): Record<string, unknown> {
  const declared = new Set(variables.map(({ name }) => name))
  return Object.fromEntries(Object.entries(repeated).filter(([name]) => !declared.has(name)))
}

/** The secrets of the earlier deployment that are neither typed again nor left out. */
export function askedAgain({
  asked,
  values,
  otherVariables,
}: Pick<Form, 'asked' | 'values' | 'otherVariables'>): string[] {
  const others = new Set(otherVariables.map(({ key }) => key))
  return asked.filter((name) => !isGiven(values[name]) && !others.has(name))
}
