import { useState } from 'react'

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

/** The API shows this in place of a secret value, and keeps the stored value when it receives this text. */
export const KEPT_SECRET = '***'

const rowsOf = ({ variables, sensitive_variables }: StoredVariables): VariableRow[] =>
  Object.entries(variables).map(([name, value], key) => ({
    key,
    name,
    kind: typeof value === 'string' ? 'text' : 'json',
    value: typeof value === 'string' ? value : JSON.stringify(value),
    sensitive: sensitive_variables.includes(name),
  }))

/** @throws Error when a name occurs twice or a value is not JSON */
function variablesOf(rows: VariableRow[]): StoredVariables {
  const variables = new Map<string, unknown>()
  for (const { name, kind, value } of rows) {
    if (variables.has(name)) throw new Error(`Two variables have the name ${name}. Rename or remove one.`)
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
    throw new Error(`The value of ${name} is not JSON. Correct the value, or choose the type Text.`)
  }
}

const NOTHING: StoredVariables = { variables: {}, sensitive_variables: [] }

/** The variables of a form. `FormModal` takes the result as one of its writes and shows its error. */
export function useVariables(stored: StoredVariables | null) {
  const [initial] = useState(() => rowsOf(stored ?? NOTHING))
  const [rows, setRows] = useState(initial)
  const [error, setError] = useState<Error | null>(null)
  /** The fields to send: none when nothing has changed. Null after an error. */
  const fieldsToSend = (): Partial<StoredVariables> | null => {
    setError(null)
    try {
      return rows === initial ? {} : variablesOf(rows)
    } catch (problem) {
      setError(problem as Error)
      return null
    }
  }
  return { rows, setRows, error, isPending: false, fieldsToSend }
}
