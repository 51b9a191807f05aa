import path from 'node:path'
import { formatPointer } from '@slipway/contracts'
import { type Document, isMap, isSeq, LineCounter, parseAllDocuments, type ScalarTag } from 'yaml'
import { RefusedError } from '../exit-code.ts'
import type { Io } from '../io.ts'
import { type EnvironmentPlace, findEnvironmentPlaces, isInside, type ReadRules, type Reads } from './reads.ts'
import { NotUtf8Error, readTextFile } from './text-file.ts'
import { findYamlProblems } from './yaml-problems.ts'

export interface ReadOptions {
  env: Io['env']
  rules: ReadRules
  reads: Reads
}

/** The files are not valid. Each problem is a line: file, line and column, field, what is wrong, what is allowed. */
export class InvalidFilesError extends RefusedError {
  override readonly name = 'FileProblems'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(['the files are not valid', ...problems].join('\n'))
    this.problems = problems
  }
}

/** One YAML document that can find the line of each field. */
export class YamlDocument {
  readonly file: string
  readonly value: unknown
  /** Values from environment variables. Output must not show them. */
  readonly secrets: ReadonlySet<string>
  readonly environmentPlaces: readonly EnvironmentPlace[]
  readonly #document: Document
  readonly #lines: LineCounter

  constructor(file: string, document: Document, lines: LineCounter, secrets: ReadonlySet<string>) {
    this.file = file
    this.#document = document
    this.#lines = lines
    this.secrets = secrets
    this.environmentPlaces = findEnvironmentPlaces(document)
    this.value = document.toJS()
  }

  /** Returns the place of a field, such as `targets.yaml:7:3`. A missing field has the place of its parent. */
  getPlace(pointer: string): string {
    const offset = this.#findOffset(pointer.split('/').slice(1).map(unescapePointer))
    const { line, col } = this.#lines.linePos(offset)
    return `${this.file}:${line}:${col}`
  }

  /** Returns a line such as `targets.yaml:7:3: connection.port: must be from 1 to 65535, this is 0`. */
  describeProblem(pointer: string, message: string): string {
    return `${this.getPlace(pointer)}: ${pointer === '' ? 'the document' : formatPointer(pointer)}: ${message}`
  }

  #findOffset(keys: readonly string[]): number {
    let node: unknown = this.#document.contents
    let offset = this.#document.contents?.range?.[0] ?? this.#document.range?.[0] ?? 0
    for (const key of keys) {
      if (isMap(node)) {
        const pair = node.items.find((one) => String((one.key as { value?: unknown }).value) === key)
        if (!pair) return offset
        offset = (pair.key as { range?: number[] }).range?.[0] ?? offset
        node = pair.value
      } else if (isSeq(node)) {
        const item = node.items[Number(key)] as { range?: number[] } | undefined
        if (!item) return offset
        offset = item.range?.[0] ?? offset
        node = item
      } else return offset
    }
    return offset
  }
}

const unescapePointer = (key: string) => key.replaceAll('~1', '/').replaceAll('~0', '~')

/**
 * Reads every document of a file. `!file NAME` inserts the text of a file, with a path relative to this file.
 * `!env NAME` inserts an environment variable. Adds what it reads to `reads`. Throws InvalidFilesError.
 */
export function readDocuments(file: string, options: ReadOptions): YamlDocument[] {
  let text: string
  try {
    text = readTextFile(file)
    if (!options.rules.allowOutside && !isInside(options.rules.root, file)) {
      throw new InvalidFilesError([`${file}: ${outside(options.rules)}`])
    }
  } catch (error) {
    if (error instanceof InvalidFilesError) throw error
    if (error instanceof NotUtf8Error) throw new InvalidFilesError([`${file}:${error.line}: ${error.message}`])
    const { code } = error as NodeJS.ErrnoException
    throw new InvalidFilesError([
      `${file}: ${code === 'ENOENT' ? 'there is no such file' : `cannot be read (${code})`}`,
    ])
  }
  const lines = new LineCounter()
  const secrets = new Set<string>()
  const customTags = [createFileTag(file, options), createEnvironmentTag(options, secrets)]
  const documents = parseAllDocuments(text, { lineCounter: lines, customTags }) as Document.Parsed[]
  const problems = documents.flatMap(findYamlProblems).map(({ offset, message }) => {
    const { line, col } = lines.linePos(offset)
    return `${file}:${line}:${col}: ${message}`
  })
  if (problems.length > 0) throw new InvalidFilesError(problems)
  return documents
    .filter(({ contents }) => contents !== null)
    .map((document) => new YamlDocument(file, document, lines, secrets))
}

const outside = ({ root }: ReadRules) => `lies outside of ${root}: give --allow-outside if you trust these files`

const createFileTag = (file: string, { rules, reads }: ReadOptions): ScalarTag => ({
  tag: '!file',
  resolve(name, onError) {
    const included = path.join(path.dirname(file), name)
    try {
      if (!rules.allowOutside && !isInside(rules.root, included)) {
        onError(`!file ${name} ${outside(rules)}`)
        return name
      }
      reads.files.add(included)
      return readTextFile(included)
    } catch (error) {
      if (error instanceof NotUtf8Error) {
        onError(`!file ${name}:${error.line}: ${error.message}`)
        return name
      }
      onError(`!file ${name} cannot be read (${(error as NodeJS.ErrnoException).code}); paths begin at this file`)
      return name
    }
  },
})

const createEnvironmentTag = ({ env, reads }: ReadOptions, secrets: Set<string>): ScalarTag => ({
  tag: '!env',
  resolve(name, onError) {
    const value = env[name]
    reads.variables.add(name)
    if (value === undefined) onError(`!env ${name}: the environment has no such variable`)
    else if (value !== '') secrets.add(value)
    return value ?? ''
  },
})
