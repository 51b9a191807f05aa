import type { IdKind } from '@slipway/contracts'
import {
  type ActionDefinition,
  environmentNameProblem,
  MASK,
  mask,
  pointer,
  type SequenceDefinition,
  type SolutionDefinition,
  type SourceType,
  type VariableDefinition,
  type VariableValues,
} from '@slipway/domain'
import { uuidv7 } from '@slipway/runtime'
import type { Check } from '../http/handler.ts'
import { isObject } from '../http/json.ts'
import type { Reference, References } from './references.ts'
import { valueProblems, variableDefinitionProblems } from './variable-rules.ts'

export type Definition = ActionDefinition | SequenceDefinition | SolutionDefinition

interface Entry {
  variables?: VariableValues
  [field: string]: unknown
}

/** What a definition is made of: the list of its entries and the field in which each names its record. */
const ENTRIES: Record<SourceType, { list: 'actions' | 'sequences'; field: string; kind: IdKind } | null> = {
  action: null,
  sequence: { list: 'actions', field: 'action_id', kind: 'action' },
  solution: { list: 'sequences', field: 'sequence_id', kind: 'sequence' },
}

/** What the schema cannot say of the `definition` in a body. */
export const definitionRules =
  (kind: SourceType): Check =>
  ({ definition }) => {
    if (!isObject(definition)) return []
    const { env, variables } = definition
    const entries = definition[ENTRIES[kind]?.list ?? '']
    return [
      ...variableDefinitionProblems(variables, 'definition', 'variables'),
      ...(isObject(env) ? Object.keys(env) : []).flatMap((name) => {
        const problem = environmentNameProblem(name)
        return problem === null ? [] : [{ path: pointer('definition', 'env', name), message: problem }]
      }),
      ...(Array.isArray(entries) ? entries : []).flatMap((entry, index) =>
        isObject(entry)
          ? valueProblems(entry['variables'], 'definition', ENTRIES[kind]?.list ?? '', index, 'variables')
          : [],
      ),
    ]
  }

/** The records that a definition is made of. */
export function definitionReferences(kind: SourceType, definition: Definition): Reference[] {
  const part = ENTRIES[kind]
  if (part === null) return []
  return entriesOf(definition, part.list).map((entry, index) => ({
    path: entryPath(part, index),
    kind: part.kind,
    id: String(entry[part.field]),
  }))
}

/** A definition as it is kept, and apart from it the defaults of its sensitive variables. */
export function storedDefinition(
  kind: SourceType,
  definition: Definition,
  references: References,
): { definition: Definition; secrets: VariableValues } {
  const part = ENTRIES[kind]
  const entries = part && {
    [part.list]: entriesOf(definition, part.list).map((entry, index) => ({
      ...entry,
      [part.field]: references.id(entryPath(part, index)),
    })),
  }
  const variables = definition.variables?.map((variable) => ({
    ...variable,
    id: (variable.id ?? uuidv7()).toLowerCase(),
  }))
  const secret = (variables ?? []).filter((variable) => variable.sensitive === true && variable.default !== undefined)
  return {
    definition: {
      ...definition,
      ...entries,
      ...(variables === undefined
        ? {}
        : { variables: variables.map((each) => (secret.includes(each) ? withoutDefault(each) : each)) }),
    } as Definition,
    secrets: Object.fromEntries(secret.map((variable) => [variable.name, variable.default])),
  }
}

/** A stored definition as an answer shows it: secrets are there, but hidden. */
export function shownDefinition(
  kind: SourceType,
  definition: Definition,
  secretNames: string[],
  sensitiveNames: string[],
): Definition {
  const part = ENTRIES[kind]
  const entries = part && {
    [part.list]: entriesOf(definition, part.list).map((entry) =>
      entry.variables === undefined ? entry : { ...entry, variables: mask(entry.variables, sensitiveNames) },
    ),
  }
  const variables = definition.variables?.map((variable) =>
    secretNames.includes(variable.name) ? { ...variable, default: MASK } : variable,
  )
  return { ...definition, ...entries, ...(variables === undefined ? {} : { variables }) } as Definition
}

function entriesOf(definition: Definition, list: 'actions' | 'sequences'): Entry[] {
  return (definition as unknown as Record<string, Entry[]>)[list] ?? []
}

const entryPath = (part: { list: string; field: string }, index: number) =>
  pointer('definition', part.list, index, part.field)

function withoutDefault({ default: _default, ...variable }: VariableDefinition): VariableDefinition {
  return variable
}
