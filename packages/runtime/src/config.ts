import { readFileSync } from 'node:fs'
import type { Static, TObject, TSchema } from '@sinclair/typebox'
import { Ajv, type ErrorObject } from 'ajv'

/** Environment variables are wrong. The message names each wrong variable and holds no secret. */
export class ConfigurationError extends Error {
  override name = 'ConfigurationError'
  readonly problems: ConfigurationProblem[]

  constructor(problems: ConfigurationProblem[]) {
    super(describe(problems))
    this.problems = problems
  }
}

export interface ConfigurationProblem {
  variable: string
  problem: string
  example?: string
}

type Environment = Record<string, string | undefined>

/**
 * Reads the environment variables that are keys of the schema, each also from the file that `<NAME>_FILE` names. A blank value
 * counts as unset. Throws ConfigurationError with all problems.
 */
export function loadConfig<T extends TObject>(schema: T, env: Environment = process.env): Static<T> {
  const problems: ConfigurationProblem[] = []
  const given: Record<string, string> = {}
  for (const variable of Object.keys(schema.properties)) {
    const read = readVariable(variable, env)
    if ('problem' in read) problems.push({ variable, problem: read.problem, ...exampleOf(schema.properties[variable]) })
    else if (read.value !== undefined) given[variable] = read.value
  }
  const unreadable = new Set(problems.map((problem) => problem.variable))
  const config: Record<string, unknown> = { ...given }
  const validate = ajv.compile(schema)
  if (validate(config) && problems.length === 0) return config as Static<T>
  for (const [variable, failure] of firstPerVariable(validate.errors ?? [])) {
    if (unreadable.has(variable)) continue
    const property = schema.properties[variable]
    problems.push({ variable, problem: explain(failure, property, given[variable]), ...exampleOf(property) })
  }
  throw new ConfigurationError(problems)
}

function readVariable(variable: string, env: Environment): { value: string | undefined } | { problem: string } {
  const value = set(env[variable])
  const file = set(env[`${variable}_FILE`])
  if (file === undefined) return { value }
  if (value !== undefined) return { problem: `is set twice, also by ${variable}_FILE: unset one of them` }
  try {
    return { value: set(readFileSync(file, 'utf8').replace(/\r?\n$/, '')) }
  } catch (error) {
    return { problem: `cannot be read: ${variable}_FILE names ${file} (${(error as NodeJS.ErrnoException).code})` }
  }
}

/** Blank counts as unset, because Ajv would convert a blank to the number 0. */
function set(value: string | undefined): string | undefined {
  return value?.trim() ? value : undefined
}

/** Adds defaults, and converts texts to numbers and booleans. */
const ajv = new Ajv({
  allErrors: true,
  useDefaults: true,
  coerceTypes: true,
  allowUnionTypes: true,
  keywords: ['expects'],
  formats: { email: /^[^\s@]+@[^\s@]+$/, uri: (text: string) => URL.canParse(text) },
  // The schemas of Slipway are valid. Checking one costs 50 ms of CPU time (`--cpu-prof` of a start).
  validateSchema: false,
})

function firstPerVariable(failures: ErrorObject[]): Map<string, ErrorObject> {
  const first = new Map<string, ErrorObject>()
  for (const failure of failures) {
    const variable = String(failure.params['missingProperty'] ?? failure.instancePath.split('/')[1] ?? '')
    if (!first.has(variable)) first.set(variable, failure)
  }
  return first
}

function explain(failure: ErrorObject, property: TSchema | undefined, value: string | undefined): string {
  const meaning = property?.description ? ` (${property.description})` : ''
  if (failure.keyword === 'required') return `is missing${meaning}`
  const shown = property?.['writeOnly'] === true || value === undefined ? '' : ` ${JSON.stringify(value)}, which`
  const expected = property?.['expects'] ? `must be ${property['expects']}` : (failure.message ?? 'is not valid')
  return shown ? `is${shown} ${expected}${meaning}` : `${expected}${meaning}`
}

function exampleOf(property: TSchema | undefined): { example?: string } {
  const example: unknown = property?.examples?.[0] ?? property?.default
  return example === undefined ? {} : { example: String(example) }
}

function describe(problems: ConfigurationProblem[]): string {
  const count = problems.length === 1 ? 'One environment variable is' : `${problems.length} environment variables are`
  const lines = problems.map(({ variable, problem, example }) => {
    return `  ${variable} ${problem}${example === undefined ? '' : `. Example: ${variable}=${example}`}`
  })
  return [`${count} wrong:`, ...lines].join('\n')
}
