import { Document, Scalar, visit } from 'yaml'
import { escapeControls, needsQuotes } from './controls.ts'

/** Prints texts of several lines as `|` blocks: people copy scripts from here, and YAML would fold their long lines. */
export function formatYaml(value: unknown): string {
  const document = new Document(value)
  visit(document, {
    Scalar(_, node) {
      if (typeof node.value === 'string' && needsQuotes(node.value)) node.type = Scalar.QUOTE_DOUBLE
    },
  })
  return escapeControls(document.toString({ lineWidth: 0, blockQuote: 'literal' }))
}
