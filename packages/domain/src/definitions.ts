import type { ActionFile } from './files.ts'
import type { VariableValues } from './plan-schema.ts'

export type VariableType = 'string' | 'number' | 'boolean' | 'json'

export interface VariableDefinition {
  id?: string
  name: string
  type?: VariableType
  description?: string
  default?: unknown
  required?: boolean
  prompted?: boolean
  sensitive?: boolean
}

export type Interpreter = 'sh' | 'bash' | 'python3' | 'node' | 'pwsh'

/** A script that tells by its exit code whether a target is as the action left it: 0 yes, 1 no, anything else: not known. */
export interface CheckDefinition {
  script: string
  interpreter?: Interpreter
  timeout_seconds?: number
  interval_seconds?: number
}

export interface ActionDefinition {
  type: 'script'
  script: string
  interpreter?: Interpreter
  working_directory?: string
  env?: Record<string, string>
  files?: ActionFile[]
  rollback?: { script: string }
  check?: CheckDefinition
  timeout_seconds?: number
  max_retries?: number
  variables?: VariableDefinition[]
  /** False: nothing is inserted into the scripts, so `{{ name }}` is the text of another tool. */
  templates?: boolean
}

/** An action in a sequence. `variables` are values. */
interface SequenceEntry {
  action_id: string
  version_requirement?: string
  variables?: VariableValues
}

export interface SequenceDefinition {
  actions: SequenceEntry[]
  variables?: VariableDefinition[]
}

/** A sequence in a solution. `variables` are values. */
interface SolutionEntry {
  sequence_id: string
  version_requirement?: string
  variables?: VariableValues
}

export interface SolutionDefinition {
  sequences: SolutionEntry[]
  variables?: VariableDefinition[]
}

/** The key of the values of a definition's entries among its secrets. `$` is not allowed in the name of a variable. */
export const SEALED_ENTRIES = '$entries'

/**
 * The sealed part of a stored definition: the defaults of its sensitive variables by name, and the values of its entries in
 * their order.
 */
export type DefinitionSecrets = VariableValues & { [SEALED_ENTRIES]?: VariableValues[] }

/** A stored definition with the values that were given in its entries. */
export function withEntryValues<D extends object>(definition: D, secrets: DefinitionSecrets): D {
  const values = secrets[SEALED_ENTRIES]
  if (values === undefined) return definition
  const fill = <E extends { variables?: VariableValues }>(entries: E[]) =>
    entries.map((entry, index) =>
      entry.variables === undefined ? entry : { ...entry, variables: values[index] ?? {} },
    )
  const { actions, sequences } = definition as Partial<SequenceDefinition & SolutionDefinition>
  return {
    ...definition,
    ...(actions === undefined ? {} : { actions: fill(actions) }),
    ...(sequences === undefined ? {} : { sequences: fill(sequences) }),
  }
}
