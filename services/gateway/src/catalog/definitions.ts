import type { IdKind } from '@slipway/contracts'
import {
  type ActionDefinition,
  type ActionFile,
  compareVersions,
  type DefinitionSecrets,
  environmentNameProblem,
  environmentSizeProblem,
  expansionProblem,
  type FieldError,
  filePathProblems,
  MASK,
  mask,
  pointer,
  resolveVersion,
  SEALED_ENTRIES,
  type SequenceDefinition,
  type SolutionDefinition,
  type SourceType,
  type VariableDefinition,
  type VariableValues,
} from '@slipway/domain'
import { isObject } from '@slipway/http'
import { uuidv7 } from '@slipway/runtime'
import type { Check } from '../handler.ts'
import type { Reference, References } from '../records/references.ts'
import { valueProblems, variableDefinitionProblems } from './variable-rules.ts'

export type Definition = ActionDefinition | SequenceDefinition | SolutionDefinition

interface DefinitionEntry {
  variables?: VariableValues
  [field: string]: unknown
}

/** Where a definition names the records that it contains. */
const ENTRIES: Record<SourceType, { list: 'actions' | 'sequences'; field: string; kind: IdKind } | null> = {
  action: null,
  sequence: { list: 'actions', field: 'action_id', kind: 'action' },
  solution: { list: 'sequences', field: 'sequence_id', kind: 'sequence' },
}

/** Checks what the schema of a definition cannot express. */
export const definitionRules =
  (kind: SourceType): Check =>
  ({ definition }) => {
    if (!isObject(definition)) return []
    const { env, files, variables, working_directory } = definition
    const entries = definition[ENTRIES[kind]?.list ?? '']
    return [
      ...variableDefinitionProblems(variables, 'definition', 'variables'),
      ...(isObject(env) ? Object.entries(env) : []).flatMap(([name, text]) => {
        const problem = environmentNameProblem(name) ?? environmentSizeProblem(name, String(text))
        return problem === null ? [] : [{ path: pointer('definition', 'env', name), message: problem }]
      }),
      ...pathProblems(files),
      ...directoryProblems(working_directory),
      ...(Array.isArray(entries) ? entries : []).flatMap((entry, index) =>
        isObject(entry)
          ? valueProblems(entry['variables'], 'definition', ENTRIES[kind]?.list ?? '', index, 'variables')
          : [],
      ),
    ]
  }

function directoryProblems(directory: unknown): FieldError[] {
  const problem = typeof directory === 'string' ? expansionProblem(directory) : null
  return problem === null ? [] : [{ path: pointer('definition', 'working_directory'), message: problem }]
}

function pathProblems(files: unknown): FieldError[] {
  // The schema reports a path that is no string.
  const named = (Array.isArray(files) ? files : []).flatMap((file, index) =>
    isObject(file) && typeof file['path'] === 'string' ? [{ index, path: file['path'] }] : [],
  )
  return filePathProblems(named.map(({ path }) => path)).map(({ index, message }) => ({
    path: pointer('definition', 'files', named[index]?.index ?? 0, 'path'),
    message,
  }))
}

/** The actions of a sequence, or the sequences of a solution. */
export function definitionReferences(kind: SourceType, definition: Definition): Reference[] {
  const part = ENTRIES[kind]
  if (part === null) return []
  return entriesOf(definition, part.list).map((entry, index) => ({
    path: entryPath(part, index),
    kind: part.kind,
    id: String(entry[part.field]),
  }))
}

/** The versions that a definition allows of one of its parts. */
export interface Requirement {
  path: string
  source_id: string
  range: string
}

/** The version requirements of a definition whose parts are known. */
export function requirementsOf(kind: SourceType, definition: Definition, references: References): Requirement[] {
  const part = ENTRIES[kind]
  if (part === null) return []
  return entriesOf(definition, part.list).flatMap(({ version_requirement: range }, index) => {
    const source_id = references.id(entryPath(part, index))
    if (typeof range !== 'string' || source_id === null) return []
    return { path: pointer('definition', part.list, index, 'version_requirement'), source_id, range }
  })
}

/** How many versions a message lists. */
const VERSIONS_SHOWN = 10

/** Requirements that no published version satisfies: no deployment of the definition could start. */
export function requirementProblems(
  requirements: readonly Requirement[],
  sources: readonly { id: string; kind: SourceType; name: string; versions: readonly string[] }[],
): FieldError[] {
  const byId = new Map(sources.map((source) => [source.id, source]))
  return requirements.flatMap(({ path, source_id, range }) => {
    const source = byId.get(source_id)
    // Only a source that a check assumes has no version.
    if (source === undefined || source.versions.length === 0) return []
    if (resolveVersion(source.versions, range) !== null) return []
    const newest = source.versions.toSorted((a, b) => compareVersions(b, a))
    const others = newest.length - VERSIONS_SHOWN
    const more = others > 0 ? ` and ${others} older ones` : ''
    const shown = `${newest.slice(0, VERSIONS_SHOWN).join(', ')}${more}`
    return {
      path,
      message: `no version of the ${source.kind} "${source.name}" satisfies ${range}: published are ${shown}`,
    }
  })
}

/** The files of an action; other kinds have none. */
export const filesOf = (definition: Definition): ActionFile[] => ('files' in definition && definition.files) || []

/** The names of all variables to which the entries give a value. */
export function entryNames(kind: SourceType, definition: Definition): string[] {
  const { list } = ENTRIES[kind] ?? {}
  const entries = list === undefined ? [] : entriesOf(definition, list)
  return [...new Set(entries.flatMap(({ variables = {} }) => Object.keys(variables)))]
}

/** The names of the variables that a definition declares sensitive. */
export const sensitiveNamesOf = (definition: Definition): string[] => [
  ...new Set((definition.variables ?? []).filter(({ sensitive }) => sensitive === true).map(({ name }) => name)),
]

/** Refuses `***` as the value of a sensitive variable: a client has sent back what an answer shows. */
export function maskedEntryProblems(kind: SourceType, definition: Definition, sensitiveNames: string[]): FieldError[] {
  const { list = 'actions' } = ENTRIES[kind] ?? {}
  const hidden = new Set([...sensitiveNames, ...sensitiveNamesOf(definition)])
  return entriesOf(definition, list).flatMap(({ variables = {} }, index) =>
    Object.keys(variables)
      .filter((name) => variables[name] === MASK && hidden.has(name))
      .map((name) => ({
        path: pointer('definition', list, index, 'variables', name),
        message: `must be the value itself: ${MASK} is only how answers show it`,
      })),
  )
}

/**
 * Splits a definition into the part to store and the secrets to seal. All values of entries count as secrets, because another
 * source may declare their variables as sensitive later.
 */
export function storedDefinition(
  kind: SourceType,
  definition: Definition,
  references: References,
): { definition: Definition; secrets: DefinitionSecrets } {
  const part = ENTRIES[kind]
  const given = part === null ? [] : entriesOf(definition, part.list)
  const entries = part && {
    [part.list]: given.map((entry, index) => ({
      ...entry,
      ...(entry.variables === undefined ? {} : { variables: {} }),
      [part.field]: references.id(entryPath(part, index)),
    })),
  }
  const hasValues = given.some(({ variables }) => Object.keys(variables ?? {}).length > 0)
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
    secrets: {
      ...Object.fromEntries(secret.map((variable) => [variable.name, variable.default])),
      ...(hasValues ? { [SEALED_ENTRIES]: given.map(({ variables }) => variables ?? {}) } : {}),
    },
  }
}

/** Masks the secrets of a definition for an answer. */
export function shownDefinition(
  kind: SourceType,
  definition: Definition,
  secrets: DefinitionSecrets,
  sensitiveNames: string[],
): Definition {
  const part = ENTRIES[kind]
  const entries = part && {
    [part.list]: entriesOf(definition, part.list).map((entry) =>
      entry.variables === undefined ? entry : { ...entry, variables: mask(entry.variables, sensitiveNames) },
    ),
  }
  const variables = definition.variables?.map((variable) =>
    Object.hasOwn(secrets, variable.name) ? { ...variable, default: MASK } : variable,
  )
  return { ...definition, ...entries, ...(variables === undefined ? {} : { variables }) } as Definition
}

function entriesOf(definition: Definition, list: 'actions' | 'sequences'): DefinitionEntry[] {
  return (definition as unknown as Record<string, DefinitionEntry[]>)[list] ?? []
}

const entryPath = (part: { list: string; field: string }, index: number) =>
  pointer('definition', part.list, index, part.field)

function withoutDefault({ default: _default, ...variable }: VariableDefinition): VariableDefinition {
  return variable
}
