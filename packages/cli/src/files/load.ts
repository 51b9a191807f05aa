import { existsSync, readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { compile } from '@slipway/contracts'
import { FileProblems, readDocuments, type YamlDocument } from './document.ts'
import { type FileKind, KINDS } from './kinds.ts'
import { allowedBeside, SCHEMAS } from './schemas.ts'

/** A record as a file wants it. */
export interface Entry {
  kind: FileKind
  name: string
  /** Name of its tenant; null: of none. */
  tenant: string | null
  value: Record<string, unknown>
  document: YamlDocument
}

/** Reads and checks files, and all YAML below folders. Throws FileProblems with all that is wrong in all of them. */
export function loadEntries(paths: readonly string[], defaultTenant: string | null): Entry[] {
  const problems: string[] = []
  const entries: Entry[] = []
  const collect = (error: unknown) => {
    if (!(error instanceof FileProblems)) throw error
    problems.push(...error.problems)
  }
  for (const file of paths.flatMap(filesOf)) {
    try {
      for (const document of readDocuments(file)) {
        try {
          entries.push(entryOf(document, defaultTenant))
        } catch (error) {
          collect(error)
        }
      }
    } catch (error) {
      collect(error)
    }
  }
  problems.push(...repeated(entries))
  if (problems.length > 0) throw new FileProblems(problems)
  if (entries.length === 0) throw new FileProblems([`${paths.join(', ')}: there is no YAML document`])
  return KINDS.flatMap((kind) => entries.filter((entry) => entry.kind === kind))
}

function filesOf(given: string): string[] {
  if (!existsSync(given)) throw new FileProblems([`${given}: there is no such file or folder`])
  if (!statSync(given).isDirectory()) return [given]
  const names = readdirSync(given, { recursive: true, encoding: 'utf8' })
  const hidden = (name: string) => name.split(path.sep).some((part) => part.startsWith('.') || part === 'node_modules')
  const files = names.filter((name) => /\.ya?ml$/.test(name) && !hidden(name)).sort()
  if (files.length === 0) throw new FileProblems([`${given}: there is no YAML file in it`])
  return files.map((name) => path.join(given, name))
}

const validators = new Map<FileKind, ReturnType<typeof compile>>()

function entryOf(document: YamlDocument, defaultTenant: string | null): Entry {
  const { value } = document
  const kinds = `one of: ${KINDS.join(', ')}`
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new FileProblems([document.problem('', `must be a mapping with the field kind (${kinds})`)])
  }
  const { kind } = value as { kind?: unknown }
  if (kind === undefined) throw new FileProblems([document.problem('/kind', `is required: ${kinds}`)])
  if (!isKind(kind)) throw new FileProblems([document.problem('/kind', `must be ${kinds}`)])
  const validate = validators.get(kind) ?? compile(SCHEMAS[kind])
  validators.set(kind, validate)
  const problems = validate(value).map(({ path: pointer, message }) => {
    const allowed = message.includes('is not a known field') ? allowedBeside(SCHEMAS[kind], pointer, value) : []
    return document.problem(pointer, allowed.length > 0 ? `${message}; allowed are: ${allowed.join(', ')}` : message)
  })
  if (problems.length > 0) throw new FileProblems(problems)
  const { name, tenant = defaultTenant } = value as { name: string; tenant?: string | null }
  return { kind, name, tenant: kind === 'tenant' ? null : tenant, value: value as Entry['value'], document }
}

const isKind = (value: unknown): value is FileKind => KINDS.includes(value as FileKind)

function repeated(entries: readonly Entry[]): string[] {
  const first = new Map<string, Entry>()
  return entries.flatMap((entry) => {
    const key = JSON.stringify([entry.kind, entry.tenant, entry.name.toLowerCase()])
    const before = first.get(key)
    if (!before) {
      first.set(key, entry)
      return []
    }
    return [
      entry.document.problem(
        '/name',
        `is "${entry.name}", like the ${entry.kind} at ${before.document.place('/name')}`,
      ),
    ]
  })
}
