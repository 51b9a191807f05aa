import { existsSync, readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { compile, nameKey } from '@slipway/contracts'
import type { Io } from '../io.ts'
import { InvalidFilesError, readDocuments, type SourceFile, type YamlDocument } from './document.ts'
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
  /** The records without a problem. A record comes after all records that it refers to. */
  entries: CatalogEntry[]
  /** Records with problems. Other records may refer to them. */
  broken: CatalogEntry[]
  /** Each is a line: file, line and column, field, what is wrong, what is allowed. */
  problems: string[]
  /** Whether the kind and name of every document are known. */
  isComplete: boolean
  /** The name that a document gives. */
  manager: string | null
  reads: Reads
}

interface LoadOptions extends Partial<Omit<ReadRules, 'root'>> {
  /** The tenant of the documents that name none. */
  defaultTenant?: string | null
  env: Io['env']
  /** What stdin has, for the path `-`. */
  stdin?: Buffer
}

/** Reads and checks files, and all YAML files in folders. A problem does not hide the others. */
export function loadFileSet(
  paths: readonly string[],
  {
    defaultTenant = null,
    env,
    allowOutside = false,
    allowedVariables = new Set(),
    stdin = Buffer.alloc(0),
  }: LoadOptions,
): FileSet {
  const reads: Reads = { files: new Set(), variables: new Set() }
  const problems: string[] = []
  const found: ParsedEntry[] = []
  const managers: YamlDocument[] = []
  let isComplete = true
  const collect = <T>(read: () => T): T | null => {
    try {
      return read()
    } catch (error) {
      if (!(error instanceof InvalidFilesError)) throw error
      problems.push(...error.problems)
      return null
    }
  }
  for (const given of paths) {
    const files = collect(() => findFiles(given, stdin))
    isComplete &&= files !== null
    for (const { root, ...file } of files ?? []) {
      const rules = { root, allowOutside, allowedVariables }
      const documents = collect(() => readDocuments(file, { env, rules, reads }))
      isComplete &&= documents?.every(({ document }) => document !== null) ?? false
      for (const { document, problems: unread } of documents ?? []) {
        problems.push(...unread)
        if (document === null) continue
        if (isManagerDocument(document.value)) {
          managers.push(document)
          continue
        }
        const parsed = parseEntry(document, defaultTenant)
        const exposed = findExposed(document, allowedVariables)
        problems.push(...parsed.problems, ...exposed)
        if (parsed.entry === null) isComplete = false
        else found.push({ entry: parsed.entry, isBroken: unread.length + parsed.problems.length + exposed.length > 0 })
      }
    }
  }
  const manager = collect(() => readManagerDocuments(managers))
  const repeated = findDuplicates(found.map(({ entry }) => entry))
  problems.push(...repeated.values())
  const unique = found.filter(({ entry }) => !repeated.has(entry))
  const broken = unique.filter(({ isBroken }) => isBroken).map(({ entry }) => entry)
  const entries = unique.filter(({ isBroken }) => !isBroken).map(({ entry }) => entry)
  // Files that name a manager alone say that it has no records left: --prune deletes them.
  if (problems.length === 0 && entries.length === 0 && manager === null)
    problems.push(`${paths.join(', ')}: there is no YAML document`)
  const ordered = KINDS.flatMap((kind) => inOrder(entries.filter((entry) => entry.kind === kind)))
  return { entries: ordered, broken, problems, isComplete, manager, reads }
}

interface ParsedEntry {
  entry: CatalogEntry
  isBroken: boolean
}

interface FoundFile extends SourceFile {
  /** The folder that was given, or the one of the file. */
  root: string
}

/** The path that stands for stdin. */
export const STDIN = '-'

function findFiles(given: string, stdin: Buffer): FoundFile[] {
  if (given === STDIN) return [{ file: '<stdin>', folder: '.', root: '.', bytes: stdin }]
  if (!existsSync(given)) throw new InvalidFilesError([`${given}: there is no such file or folder`])
  const inFolder = (file: string, root: string) => ({ file, folder: path.dirname(file), root })
  if (!statSync(given).isDirectory()) return [inFolder(given, path.dirname(given))]
  const names = readdirSync(given, { recursive: true, encoding: 'utf8' })
  const isHidden = (name: string) =>
    name.split(path.sep).some((part) => part.startsWith('.') || part === 'node_modules')
  const files = names.filter((name) => /\.ya?ml$/.test(name) && !isHidden(name)).sort()
  if (files.length === 0) throw new InvalidFilesError([`${given}: there is no YAML file in it`])
  return files.map((name) => inFolder(path.join(given, name), given))
}

const validators = new Map<FileKind, ReturnType<typeof compile>>()

/** The entry is null if its kind or name is not known. */
function parseEntry(
  document: YamlDocument,
  defaultTenant: string | null,
): { entry: CatalogEntry | null; problems: string[] } {
  const { value } = document
  const kinds = `one of: ${KINDS.join(', ')}`
  const refuse = (pointer: string, message: string) => ({
    entry: null,
    problems: [document.describeProblem(pointer, message)],
  })
  if (!isMapping(value)) return refuse('', `must be a mapping with the field kind (${kinds})`)
  const { kind, name, tenant = defaultTenant } = value
  if (kind === undefined) return refuse('/kind', `is required: ${kinds}`)
  if (!isKind(kind)) return refuse('/kind', `must be ${kinds}`)
  const validate = validators.get(kind) ?? compile(SCHEMAS[kind])
  validators.set(kind, validate)
  const problems = validate(value).map(({ path: pointer, message }) => {
    const allowed = listAllowedFields(SCHEMAS[kind], pointer, value)
    const isUnknown = allowed.length > 0 && !allowed.includes(pointer.split('/').at(-1) ?? '')
    return document.describeProblem(pointer, isUnknown ? `${message}; allowed are: ${allowed.join(', ')}` : message)
  })
  if (typeof name !== 'string') return { entry: null, problems }
  const owner = kind === 'tenant' || typeof tenant !== 'string' ? null : tenant
  return { entry: { kind, name, tenant: owner, value, document }, problems }
}

const isMapping = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns a problem for each place where `!env` puts a variable that every reader of the record sees. */
const findExposed = (document: YamlDocument, allowedVariables: ReadonlySet<string>): string[] =>
  document.environmentPlaces
    .filter(({ pointer, variable }) => !allowedVariables.has(variable) && !isSecretField(document.value, pointer))
    .map(({ pointer, variable }) => {
      const next = `give --env ${variable}, or use a password, a private_key or a sensitive variable`
      return document.describeProblem(pointer, `would show !env ${variable} to readers of the record: ${next}`)
    })

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

/** Returns the problem of each entry that names the record of an earlier one. */
function findDuplicates(entries: readonly CatalogEntry[]): Map<CatalogEntry, string> {
  const first = new Map<string, CatalogEntry>()
  const repeated = new Map<CatalogEntry, string>()
  for (const entry of entries) {
    const { kind, name, tenant, document } = entry
    const key = buildNameKey(kind, name, tenant)
    const before = first.get(key)
    if (before === undefined) first.set(key, entry)
    else {
      const message = `is "${name}", like the ${kind} at ${before.document.getPlace('/name')}`
      repeated.set(entry, document.describeProblem('/name', message))
    }
  }
  return repeated
}
