import { existsSync, statSync } from 'node:fs'
import path from 'node:path'
import { compile, ManagerName } from '@slipway/contracts'
import { UsageError } from '../exit-code.ts'
import { InvalidFilesError, type YamlDocument } from './document.ts'

/** The name under which a file set owns records. */
export interface Manager {
  name: string
  /** False if the name comes from the folder of the files. */
  isNamed: boolean
}

const validateName = compile(ManagerName)
const MAX_LENGTH = 128

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

/** The folder that all paths share. In a Git repository, its path from the folder of the repository on. */
export function deriveManagerName(paths: readonly string[]): string {
  const folder = paths.map(findFolder).reduce(findCommonFolder)
  const repository = findRepository(folder)
  const name = repository === null ? path.basename(folder) : path.relative(path.dirname(repository), folder)
  const allowed = name
    .split(path.sep)
    .join('/')
    .replaceAll(/[^A-Za-z0-9._/-]+/g, '-')
    .slice(-MAX_LENGTH)
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
