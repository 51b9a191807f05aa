import type { VariableDefinition, VariableValues } from './plan-types.ts'

export type Interpreter = 'sh' | 'bash' | 'python3' | 'node' | 'pwsh'

export interface ActionDefinition {
  type: 'script'
  script: string
  interpreter?: Interpreter
  working_directory?: string
  env?: Record<string, string>
  files?: { content: string; path: string; mode?: string }[]
  rollback?: { script: string }
  timeout_seconds?: number
  max_retries?: number
  variables?: VariableDefinition[]
}

/** An action's place in a sequence; `variables` are values. */
export interface SequenceEntry {
  action_id: string
  version_requirement?: string
  variables?: VariableValues
}

export interface SequenceDefinition {
  actions: SequenceEntry[]
  variables?: VariableDefinition[]
}

/** A sequence's place in a solution; `variables` are values. */
export interface SolutionEntry {
  sequence_id: string
  version_requirement?: string
  variables?: VariableValues
}

export interface SolutionDefinition {
  sequences: SolutionEntry[]
  variables?: VariableDefinition[]
}
