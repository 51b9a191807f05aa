import { isAsWritten } from '@slipway/client'
import { LineCounter, parseDocument, stringify, visit } from 'yaml'

export type Definition = Record<string, unknown>

export const isObject = (value: unknown): value is Definition =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A definition as YAML, because JSON shows a script of many lines as one line. */
export const definitionText = (definition: unknown): string =>
  stringify(definition, { lineWidth: 0, blockQuote: 'literal', aliasDuplicateObjects: false })

/**
 * The lines of a definition to read and to compare. The ids that the server gives to variables are left out: they would
 * hide the differences between versions that people wrote.
 */
export const definitionLines = (definition: unknown): string[] =>
  definitionText(withoutVariableIds(definition)).trimEnd().split('\n')

function withoutVariableIds(definition: unknown): unknown {
  if (!isObject(definition) || !Array.isArray(definition['variables'])) return definition
  const variables = definition['variables'].map((variable: unknown) => {
    if (!isObject(variable)) return variable
    const { id: _, ...others } = variable
    return others
  })
  return { ...definition, variables }
}

/** The definition that a text in YAML or JSON holds, or why it holds none. */
export function parseDefinition(text: string): { definition: Definition } | { problem: string } {
  const lineCounter = new LineCounter()
  const document = parseDocument(text, { lineCounter })
  // A warning says that a tag is not known. Its value would arrive without the tag.
  const [error] = [...document.errors, ...document.warnings]
  // Below the first line, the message repeats the text.
  if (error !== undefined) return { problem: error.message.split('\n')[0] ?? error.message }
  let changed: number | undefined
  visit(document, {
    Scalar(_, node, path) {
      if (path.length === 1 || isAsWritten(node.value, node.source ?? '')) return undefined
      changed = node.range?.[0] ?? 0
      return visit.BREAK
    },
  })
  if (changed !== undefined) {
    const { line, col } = lineCounter.linePos(changed)
    return { problem: `The value at line ${line}, column ${col} would not arrive as it is written: write it in quotes` }
  }
  const value: unknown = document.toJS()
  return isObject(value) ? { definition: value } : { problem: 'Must consist of fields, such as "script: echo hello"' }
}
