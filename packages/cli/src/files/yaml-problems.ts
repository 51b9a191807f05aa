import { isAsWritten } from '@slipway/client'
import { type Document, isAlias, isPair, isScalar, type Scalar, visit, type YAMLError } from 'yaml'

export interface YamlProblem {
  offset: number
  message: string
  /** A value that would change. The text of its source is what its author has written. */
  scalar?: Scalar
}

/**
 * Finds what is not valid, and what would not arrive as it is written: `1.10` would become 1.1, `0x1F` 31, and `~` null. A text
 * without quotes stays as it is, also `yes`, `1_000` and `2026-11-29`.
 */
export function findYamlProblems(document: Document.Parsed): YamlProblem[] {
  if (!isReadable(document)) return listErrors(document.errors)
  // A warning says that a tag is not known. Its value would arrive without the tag.
  const problems: YamlProblem[] = [...document.errors, ...document.warnings].map(toProblem)
  visit(document, {
    Scalar(key, node, path) {
      const message = key === 'key' ? describeKey(node) : describeChange(node)
      // The content of an empty document.
      if (message === null || path.length === 1) return
      const parent = path.at(-1)
      const name = key !== 'key' && isPair(parent) && isScalar(parent.key) ? `${parent.key.source}: ` : ''
      const scalar = key === 'key' ? {} : { scalar: node }
      problems.push({ offset: node.range?.[0] ?? 0, message: `${name}${message}`, ...scalar })
    },
    Pair(_, { key }) {
      if (isScalar(key) || isAlias(key)) return
      const [offset = 0] = (key as { range?: [number, number, number] } | null)?.range ?? []
      problems.push({ offset, message: 'a key must be a text' })
    },
  })
  return problems
}

/** Whether the text is YAML. A tag that has no value, such as `!file` of a missing file, leaves the other fields readable. */
export const isReadable = ({ errors }: Document.Parsed): boolean =>
  errors.every(({ code }) => code === 'TAG_RESOLVE_FAILED')

/** The first error of each line: the parser goes on, and takes the rest of the line for more of them. */
function listErrors(errors: readonly YAMLError[]): YamlProblem[] {
  const firsts = errors.filter(({ linePos }, n) => {
    const before = errors[n - 1]?.linePos?.[0].line
    return before === undefined || before !== linePos?.[0].line
  })
  return firsts.map((error) => {
    const { offset, message } = toProblem(error)
    const advice = error.code === 'UNEXPECTED_TOKEN' ? '; write a text with {{, ": " or " #" in quotes' : ''
    return { offset, message: message + advice }
  })
}

const toProblem = ({ pos, message }: { pos: [number, number]; message: string }): YamlProblem => ({
  offset: pos[0],
  // Below the first line, the message repeats the text.
  message: (message.split('\n')[0] ?? message).replace(/ at line \d+, column \d+:?$/, '').replace(/:$/, ''),
})

function describeKey({ value, source, type }: Scalar): string | null {
  if (value === '<<' && type === 'PLAIN') return '<< merges nothing here: write the fields out, or "<<" in quotes'
  return value !== null && isAsWritten(value, source ?? '') ? null : 'this key would change: write it in quotes'
}

/** The messages do not repeat the value: it may be a secret. */
function describeChange({ value, source = '' }: Scalar): string | null {
  if (isAsWritten(value, source)) return null
  if (value === null && source === '') return 'has no value: write "" for an empty text, or null'
  if (value === null) return 'this is read as null: write null, or the text in quotes'
  if (typeof value === 'boolean') return 'this is read as true or false: write true or false, or the text in quotes'
  if (typeof value === 'number') {
    return 'this number would not arrive with the digits that are written: write it in quotes, or as JSON prints it'
  }
  return 'this is not read as a text: write it in quotes'
}
