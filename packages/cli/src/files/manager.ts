import { compile, ManagerName } from '@slipway/contracts'
import { UsageError } from '../exit-code.ts'
import { InvalidFilesError, type YamlDocument } from './document.ts'

const validateName = compile(ManagerName)

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

/** Chooses the manager, the name under which the files own records: `--manager`, else that of the files. Null without a name. */
export function chooseManager(given: string | undefined, fromFiles: string | null): string | null {
  if (given === undefined) return fromFiles
  const [problem] = validateName(given)
  if (problem) throw new UsageError(`--manager ${given}: ${problem.message}`)
  return given
}
