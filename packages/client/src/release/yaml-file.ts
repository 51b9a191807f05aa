import { readFileSync } from 'node:fs'
import path from 'node:path'
import { compile, type TSchema } from '@slipway/contracts'
import { type Document, LineCounter, parseDocument } from 'yaml'

/** Everything wrong with the files of a directory, a line for each: file, line, field, what is wrong. */
export class FileProblems extends Error {
  override readonly name = 'FileProblems'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.problems = problems
  }
}

/** One YAML file, which knows where in it a field stands. */
export class YamlFile<T = unknown> {
  readonly name: string
  readonly folder: string
  readonly value: T
  readonly #document: Document
  readonly #lines: LineCounter

  private constructor(name: string, folder: string, document: Document, lines: LineCounter) {
    this.name = name
    this.folder = folder
    this.#document = document
    this.#lines = lines
    this.value = document.toJS() as T
  }

  /** Reads `directory/name` and checks it against the schema. Throws FileProblems. */
  static read<T>(directory: string, name: string, schema: TSchema): YamlFile<T> {
    const lines = new LineCounter()
    const document = parseDocument(readText(directory, name), { lineCounter: lines })
    if (document.errors.length > 0) {
      throw new FileProblems(document.errors.map((e) => `${name}:${e.linePos?.[0].line ?? 1}: ${firstLine(e.message)}`))
    }
    const file = new YamlFile<T>(name, path.dirname(path.join(directory, name)), document, lines)
    const problems = compile(schema)(file.value)
    if (problems.length > 0) throw new FileProblems(problems.map((one) => file.problem(one.path, one.message)))
    return file
  }

  /** `actions/start.yaml:7: definition/timeout_seconds must be integer`, for a JSON Pointer into the file. */
  problem(pointer: string, message: string): string {
    const place = `${this.name}:${this.#lineOf(pointer)}`
    return pointer === '' ? `${place}: the file ${message}` : `${place}: ${pointer.slice(1)} ${message}`
  }

  /** The line of the field, or of what it should stand in. */
  #lineOf(pointer: string): number {
    const keys = pointer
      .split('/')
      .slice(1)
      .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
    for (; keys.length > 0; keys.pop()) {
      const node = this.#document.getIn(keys, true) as { range?: [number, number, number] } | undefined
      if (node?.range) return this.#lines.linePos(node.range[0]).line
    }
    return 1
  }
}

/** The text of a file. Throws FileProblems naming it, relative to the directory. */
export function readText(directory: string, name: string): string {
  try {
    return readFileSync(path.join(directory, name), 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new FileProblems([`${name}: ${code === 'ENOENT' ? 'there is no such file' : `cannot be read (${code})`}`])
  }
}

function firstLine(text: string): string {
  return text.split('\n')[0]?.replace(/:$/, '') ?? text
}
