import { createHash } from 'node:crypto'
import { existsSync, realpathSync, statSync } from 'node:fs'
import { hostname } from 'node:os'
import path from 'node:path'
import { compile, ManagerName } from '@slipway/contracts'
import { UsageError } from '../exit-code.ts'
import { InvalidFilesError, type YamlDocument } from './document.ts'
import { readRemote } from './remote.ts'

/** The name under which a file set owns records. */
export interface Manager {
  name: string
  /** False if the name comes from the folder of the files. */
  isNamed: boolean
}

const validateName = compile(ManagerName)
const MAX_LENGTH = 128
const HASH_DIGITS = 8

/** Whether a document names the manager of the file set: it has this field alone. */
export const isManagerDocument = (value: unknown): value is { manager: unknown } =>
  typeof value === 'object' && value !== null && 'manager' in value && !('kind' in value)

/** Reads the name from the documents that have one. Throws InvalidFilesError if it is not valid, or if there are several. */
export function readManagerDocuments(documents: readonly YamlDocument[]): string | null {
  const [first, ...others] = documents.map((document) => ({ document, name: readName(document) }))
  if (first === undefined) return null
  const different = others.find(({ name }) => name !== first.name)
  if (different === undefined) return first.name
  const message = `is "${different.name}", but ${first.document.getPlace('/manager')} says "${first.name}": one apply has one manager`
  throw new InvalidFilesError([different.document.describeProblem('/manager', message)])
}

function readName(document: YamlDocument): string {
  const { manager, ...others } = document.value as { manager: unknown }
  const [other] = Object.keys(others)
  if (other !== undefined) {
    const message = 'is not a known field here: a document with manager has no other field'
    throw new InvalidFilesError([document.describeProblem(`/${other}`, message)])
  }
  const [problem] = validateName(manager)
  if (problem) throw new InvalidFilesError([document.describeProblem('/manager', problem.message)])
  return manager as string
}

/** Chooses the manager: `--manager`, else that of the files, else the name of their folder. */
export function chooseManager(given: string | undefined, fromFiles: string | null, paths: readonly string[]): Manager {
  if (given !== undefined) {
    const [problem] = validateName(given)
    if (problem) throw new UsageError(`--manager ${given}: ${problem.message}`)
    return { name: given, isNamed: true }
  }
  if (fromFiles !== null) return { name: fromFiles, isNamed: true }
  return { name: deriveManagerName(paths), isNamed: false }
}

/**
 * Derives a name from the folder that all paths share, and adds a hash of its place. The place is a path in a Git repository if the
 * repository has a remote, because pipelines check it out into other folders. Otherwise it is a path on this host.
 */
export function deriveManagerName(paths: readonly string[]): string {
  const folder = realpathSync(paths.map(findFolder).reduce(findCommonFolder))
  const root = findRepository(folder)
  const remote = root === null ? null : readRemote(root)
  const inside = root === null ? '' : path.relative(root, folder)
  const place = remote === null ? [hostname(), folder] : [remote, inside]
  const hash = createHash('sha256').update(JSON.stringify(place)).digest('hex').slice(0, HASH_DIGITS)
  const readable = root === null ? path.basename(folder) : path.join(path.basename(remote ?? root), inside)
  return `${toAllowedName(readable, MAX_LENGTH - HASH_DIGITS - 1)}-${hash}`
}

function toAllowedName(text: string, length: number): string {
  const allowed = text
    .split(path.sep)
    .join('/')
    .replaceAll(/[^A-Za-z0-9._/-]+/g, '-')
    .slice(-length)
    .replace(/^[^A-Za-z0-9]+/, '')
  return allowed === '' ? 'files' : allowed
}

const findFolder = (given: string) => {
  const absolute = path.resolve(given)
  return statSync(absolute).isDirectory() ? absolute : path.dirname(absolute)
}

function findCommonFolder(a: string, b: string): string {
  let folder = a
  while (path.relative(folder, b).startsWith('..')) folder = path.dirname(folder)
  return folder
}

function findRepository(folder: string): string | null {
  if (existsSync(path.join(folder, '.git'))) return folder
  const parent = path.dirname(folder)
  return parent === folder ? null : findRepository(parent)
}
