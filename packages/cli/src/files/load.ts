import { existsSync, readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { compile, nameKey } from '@slipway/contracts'
import type { Io } from '../io.ts'
import { InvalidFilesError, readDocuments, type YamlDocument } from './document.ts'
import { buildNameKey, type FileKind, KINDS } from './kinds.ts'
import { isManagerDocument, readManagerDocuments } from './manager.ts'
import { isSecretField, type ReadRules, type Reads } from './reads.ts'
import { listAllowedFields, SCHEMAS } from './schemas.ts'

/** A record as a file describes it. */
export interface CatalogEntry {
  kind: FileKind
  name: string
  /** Name of the tenant; null if the record belongs to no tenant. */
  tenant: string | null
  value: Record<string, unknown>
  document: YamlDocument
}

export interface FileSet {
  /** A record comes after all records that it refers to. */
  entries: CatalogEntry[]
  /** The name that a document gives. */
  manager: string | null
  reads: Reads
}

interface LoadOptions extends Partial<Omit<ReadRules, 'root'>> {
  /** The tenant of the documents that name none. */
  defaultTenant?: string | null
  env: Io['env']
}

/** Reads and checks files, and all YAML files in folders. Throws InvalidFilesError with the problems of all files. */
export function loadFileSet(
  paths: readonly string[],
  { defaultTenant = null, env, allowOutside = false, allowedVariables = new Set() }: LoadOptions,
): FileSet {
  const reads: Reads = { files: new Set(), variables: new Set() }
  const problems: string[] = []
  const entries: CatalogEntry[] = []
  const managers: YamlDocument[] = []
  const collect = (error: unknown) => {
    if (!(error instanceof InvalidFilesError)) throw error
    problems.push(...error.problems)
  }
  for (const { file, root } of paths.flatMap(findFiles)) {
    const rules = { root, allowOutside, allowedVariables }
    try {
      for (const document of readDocuments(file, { env, rules, reads })) {
        try {
          if (isManagerDocument(document.value)) managers.push(document)
          else entries.push(parseEntry(document, defaultTenant))
          refuseExposed(document, allowedVariables)
        } catch (error) {
          collect(error)
        }
      }
    } catch (error) {
      collect(error)
    }
  }
  let manager: string | null = null
  try {
    manager = readManagerDocuments(managers)
  } catch (error) {
    collect(error)
  }
  problems.push(...findDuplicates(entries))
  if (problems.length > 0) throw new InvalidFilesError(problems)
  // Files that name a manager alone say that it has no records left: --prune deletes them.
  if (entries.length === 0 && manager === null)
    throw new InvalidFilesError([`${paths.join(', ')}: there is no YAML document`])
  return { entries: KINDS.flatMap((kind) => inOrder(entries.filter((entry) => entry.kind === kind))), manager, reads }
}

interface FoundFile {
  file: string
  /** The folder that was given, or the one of the file. */
  root: string
}

function findFiles(given: string): FoundFile[] {
  if (!existsSync(given)) throw new InvalidFilesError([`${given}: there is no such file or folder`])
  if (!statSync(given).isDirectory()) return [{ file: given, root: path.dirname(given) }]
  const names = readdirSync(given, { recursive: true, encoding: 'utf8' })
  const isHidden = (name: string) =>
    name.split(path.sep).some((part) => part.startsWith('.') || part === 'node_modules')
  const files = names.filter((name) => /\.ya?ml$/.test(name) && !isHidden(name)).sort()
  if (files.length === 0) throw new InvalidFilesError([`${given}: there is no YAML file in it`])
  return files.map((name) => ({ file: path.join(given, name), root: given }))
}

const validators = new Map<FileKind, ReturnType<typeof compile>>()

function parseEntry(document: YamlDocument, defaultTenant: string | null): CatalogEntry {
  const { value } = document
  const kinds = `one of: ${KINDS.join(', ')}`
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new InvalidFilesError([document.describeProblem('', `must be a mapping with the field kind (${kinds})`)])
  }
  const { kind } = value as { kind?: unknown }
  if (kind === undefined) throw new InvalidFilesError([document.describeProblem('/kind', `is required: ${kinds}`)])
  if (!isKind(kind)) throw new InvalidFilesError([document.describeProblem('/kind', `must be ${kinds}`)])
  const validate = validators.get(kind) ?? compile(SCHEMAS[kind])
  validators.set(kind, validate)
  const problems = validate(value).map(({ path: pointer, message }) => {
    const allowed = listAllowedFields(SCHEMAS[kind], pointer, value)
    const isUnknown = allowed.length > 0 && !allowed.includes(pointer.split('/').at(-1) ?? '')
    return document.describeProblem(pointer, isUnknown ? `${message}; allowed are: ${allowed.join(', ')}` : message)
  })
  if (problems.length > 0) throw new InvalidFilesError(problems)
  const { name, tenant = defaultTenant } = value as { name: string; tenant?: string | null }
  return { kind, name, tenant: kind === 'tenant' ? null : tenant, value: value as CatalogEntry['value'], document }
}

/** Throws InvalidFilesError if `!env` puts a variable where every reader of the record sees it. */
function refuseExposed(document: YamlDocument, allowedVariables: ReadonlySet<string>): void {
  const problems = document.environmentPlaces
    .filter(({ pointer, variable }) => !allowedVariables.has(variable) && !isSecretField(document.value, pointer))
    .map(({ pointer, variable }) => {
      const next = `give --env ${variable}, or use a password, a private_key or a sensitive variable`
      return document.describeProblem(pointer, `would show !env ${variable} to readers of the record: ${next}`)
    })
  if (problems.length > 0) throw new InvalidFilesError(problems)
}

/** The environment from which versions are promoted to the one of a document. */
export function promotesFrom(value: Record<string, unknown>): string | undefined {
  const { promotion } = (value['rules'] ?? {}) as { promotion?: { from_environment?: unknown } }
  const from = promotion?.from_environment
  return typeof from === 'string' ? from : undefined
}

/** An environment comes after the one from which its versions are promoted. In a circle, which the server refuses, as they stand. */
function inOrder(entries: readonly CatalogEntry[]): CatalogEntry[] {
  const ordered = new Set<CatalogEntry>()
  const visit = (entry: CatalogEntry, path: readonly CatalogEntry[]) => {
    if (ordered.has(entry) || path.includes(entry)) return
    const from = promotesFrom(entry.value)
    const before = from === undefined ? [] : entries.filter(({ name }) => nameKey(name) === nameKey(from))
    for (const one of before) visit(one, [...path, entry])
    ordered.add(entry)
  }
  for (const entry of entries) visit(entry, [])
  return [...ordered]
}

const isKind = (value: unknown): value is FileKind => KINDS.includes(value as FileKind)

function findDuplicates(entries: readonly CatalogEntry[]): string[] {
  const first = new Map<string, CatalogEntry>()
  return entries.flatMap((entry) => {
    const key = buildNameKey(entry.kind, entry.name, entry.tenant)
    const before = first.get(key)
    if (!before) {
      first.set(key, entry)
      return []
    }
    return [
      entry.document.describeProblem(
        '/name',
        `is "${entry.name}", like the ${entry.kind} at ${before.document.getPlace('/name')}`,
      ),
    ]
  })
}
