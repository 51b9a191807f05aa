import path from 'node:path'
import { formatPointer } from '@slipway/contracts'
import { type Document, isMap, isScalar, isSeq, LineCounter, parseAllDocuments, type ScalarTag } from 'yaml'
import { RefusedError } from '../exit-code.ts'
import type { Io } from '../io.ts'
import { formatCount } from '../terminal/table.ts'
import { type ContentFile, hashFile } from './content-file.ts'
import { type EnvironmentPlace, findEnvironmentPlaces, isInside, type ReadRules, type Reads } from './reads.ts'
import { decodeText, NotUtf8Error, readTextFile } from './text-file.ts'
import { findYamlProblems, isReadable } from './yaml-problems.ts'

/** A file of the file set, or stdin. */
export interface SourceFile {
  file: string
  /** Where the paths of `!file` and `!content` begin. */
  folder: string
  /** Of stdin, which is read already. */
  bytes?: Buffer
}

export interface ReadOptions {
  env: Io['env']
  rules: ReadRules
  reads: Reads
}

/** The files are not valid. Each problem is a line: file, line and column, field, what is wrong, what is allowed. */
export class InvalidFilesError extends RefusedError {
  override readonly name = 'FileProblems'
  readonly problems: readonly string[]

  /** `after` says what follows from the problems. */
  constructor(problems: readonly string[], after: readonly string[] = []) {
    super([`${formatCount(problems.length, 'problem')} in the files`, ...problems, ...after].join('\n'))
    this.problems = problems
  }
}

const BY_PLACE = new Intl.Collator('en', { numeric: true })

/** Sorts problems by file, line and column, each once. */
export const sortProblems = (problems: readonly string[]): string[] => [...new Set(problems)].sort(BY_PLACE.compare)

export interface ReadDocument {
  document: YamlDocument | null
  problems: string[]
}

/** One YAML document that can find the line of each field. */
export class YamlDocument {
  readonly file: string
  readonly value: unknown
  /** Values from environment variables. Output must not show them. */
  readonly secrets: ReadonlySet<string>
  readonly environmentPlaces: readonly EnvironmentPlace[]
  /** The files of `!content`, by their ids. */
  readonly contents: ReadonlyMap<string, ContentFile>
  readonly #document: Document
  readonly #lines: LineCounter

  constructor(
    file: string,
    document: Document,
    lines: LineCounter,
    { secrets, contents }: Pick<YamlDocument, 'secrets' | 'contents'>,
  ) {
    this.file = file
    this.#document = document
    this.#lines = lines
    this.secrets = secrets
    this.contents = contents
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
 * Reads every document of a file. `!file NAME` inserts the text of a file, with a path relative to this file. `!content NAME` inserts
 * the SHA-256 of its bytes. `!env NAME` inserts an environment variable. Adds what it reads to `reads`. A document that is no YAML is
 * null. Throws InvalidFilesError if the file cannot be read.
 */
export function readDocuments({ file, folder, ...given }: SourceFile, options: ReadOptions): ReadDocument[] {
  const text = readGivenText({ file, ...given }, options.rules)
  const lines = new LineCounter()
  const secrets = new Set<string>()
  const contents = new Map<string, ContentFile>()
  const customTags = [
    createFileTag('!file', folder, options, readTextFile),
    createFileTag('!content', folder, options, (name) => {
      const content = hashFile(name)
      contents.set(content.id, content)
      return content.id
    }),
    createEnvironmentTag(options, secrets),
  ]
  const documents = parseAllDocuments(text, { lineCounter: lines, customTags }) as Document.Parsed[]
  return documents
    .filter((parsed) => !isEmpty(parsed))
    .map((parsed) => {
      const problems = findYamlProblems(parsed).map(({ offset, message, scalar }) => {
        // Further checks see what was written, as if in quotes.
        if (scalar !== undefined) scalar.value = scalar.source ?? ''
        const { line, col } = lines.linePos(offset)
        return `${file}:${line}:${col}: ${message}`
      })
      const document = isReadable(parsed) ? new YamlDocument(file, parsed, lines, { secrets, contents }) : null
      return { document, problems }
    })
}

function readGivenText({ file, bytes }: Pick<SourceFile, 'file' | 'bytes'>, rules: ReadRules): string {
  try {
    if (bytes !== undefined) return decodeText(bytes)
    const text = readTextFile(file)
    if (!rules.allowOutside && !isInside(rules.root, file)) throw new InvalidFilesError([`${file}: ${outside(rules)}`])
    return text
  } catch (error) {
    if (error instanceof InvalidFilesError) throw error
    if (error instanceof NotUtf8Error) throw new InvalidFilesError([`${file}:${error.line}: ${error.message}`])
    const { code } = error as NodeJS.ErrnoException
    throw new InvalidFilesError([
      `${file}: ${code === 'ENOENT' ? 'there is no such file' : `cannot be read (${code})`}`,
    ])
  }
}

const outside = ({ root }: ReadRules) => `lies outside of ${root}: give --allow-outside if you trust these files`

/** A tag that puts something of a file in its place. */
/** Such as what stands after the last `---` of a file. */
const isEmpty = ({ contents, errors }: Document.Parsed) =>
  errors.length === 0 &&
  (contents === null || (isScalar(contents) && contents.value === null && contents.source === ''))

const createFileTag = (
  tag: '!file' | '!content',
  folder: string,
  { rules, reads }: ReadOptions,
  read: (file: string) => string,
): ScalarTag => ({
  tag,
  resolve(name, onError) {
    const included = path.join(folder, name)
    try {
      if (rules.allowOutside || isInside(rules.root, included)) {
        reads.files.add(included)
        return read(included)
      }
      onError(`${tag} ${name} ${outside(rules)}`)
    } catch (error) {
      if (error instanceof NotUtf8Error) onError(`${tag} ${name}:${error.line}: ${error.message}`)
      else {
        const { code } = error as NodeJS.ErrnoException
        const why = code === 'ENOENT' ? 'there is no file' : `${code}: cannot read`
        onError(`${tag} ${name}: ${why} ${included}`)
      }
    }
    // The problem is said. A value that fits the field keeps it from being said twice.
    return tag === '!content' ? NO_CONTENT : name
  },
})

/** Has the form of an id of content. */
const NO_CONTENT = '0'.repeat(64)

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
