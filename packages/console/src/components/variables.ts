export interface StoredVariables {
  variables: Record<string, unknown>
  sensitive_variables: string[]
}

export interface VariableRow {
  key: number
  name: string
  kind: 'text' | 'json'
  value: string
  sensitive: boolean
}

/** What a user has entered cannot be sent. The message says what to correct. */
export class InvalidInput extends Error {
  override name = 'InvalidInput'
}

/** The API shows this in place of a secret value, and keeps the stored value when it receives this text. */
export const KEPT_SECRET = '***'

export const rowsOf = (stored: StoredVariables | null): VariableRow[] =>
  Object.entries(stored?.variables ?? {}).map(([name, value], key) => ({
    key,
    name,
    kind: typeof value === 'string' ? 'text' : 'json',
    value: typeof value === 'string' ? value : JSON.stringify(value),
    sensitive: stored?.sensitive_variables.includes(name) ?? false,
  }))

function variablesOf(rows: VariableRow[]): StoredVariables {
  const variables = new Map<string, unknown>()
  for (const { name, kind, value } of rows) {
    if (variables.has(name)) throw new InvalidInput(`Two variables have the name ${name}. Rename or remove one.`)
    variables.set(name, kind === 'text' ? value : parseJson(name, value))
  }
  return {
    variables: Object.fromEntries(variables),
    sensitive_variables: rows.filter(({ sensitive }) => sensitive).map(({ name }) => name),
  }
}

function parseJson(name: string, value: string): unknown {
  try {
    return JSON.parse(value)
  } catch {
    throw new InvalidInput(`The value of ${name} is not JSON. Correct the value, or choose the type Text.`)
  }
}

/**
 * The fields to send for changed rows.
 * @throws InvalidInput when a name occurs twice or a value is not JSON
 */
export const variablesChange = (rows: VariableRow[] | undefined): Partial<StoredVariables> =>
  rows === undefined ? {} : variablesOf(rows)
