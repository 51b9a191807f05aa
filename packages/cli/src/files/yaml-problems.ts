import { isAsWritten } from '@slipway/client'
import { type Document, isAlias, isPair, isScalar, type Scalar, visit } from 'yaml'

export interface YamlProblem {
  offset: number
  message: string
}

/**
 * Finds what is not valid, and what would not arrive as it is written: `1.10` would become 1.1, `0x1F` 31, and `~` null. A text
 * without quotes stays as it is, also `yes`, `1_000` and `2026-11-29`.
 */
export function findYamlProblems(document: Document.Parsed): YamlProblem[] {
  if (document.errors.length > 0) return document.errors.map(toProblem)
  // A warning says that a tag is not known. Its value would arrive without the tag.
  const problems = document.warnings.map(toProblem)
  visit(document, {
    Scalar(key, node, path) {
      const message = key === 'key' ? describeKey(node) : describeChange(node)
      // The content of an empty document.
      if (message === null || path.length === 1) return
      const parent = path.at(-1)
      const name = key !== 'key' && isPair(parent) && isScalar(parent.key) ? `${parent.key.source}: ` : ''
      problems.push({ offset: node.range?.[0] ?? 0, message: `${name}${message}` })
    },
    Pair(_, { key }) {
      if (isScalar(key) || isAlias(key)) return
      const [offset = 0] = (key as { range?: [number, number, number] } | null)?.range ?? []
      problems.push({ offset, message: 'a key must be a text' })
    },
  })
  return problems
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
