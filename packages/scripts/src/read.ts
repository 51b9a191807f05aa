import type { Interpreter, ScriptTemplate } from '@slipway/domain'
import { Found, type ScriptWarning } from './found.ts'
import { parserOf } from './grammars.ts'
import { nodeRules, pwshRules, pythonRules } from './languages.ts'
import { Lines, type Placeholder, placeholdersOf, withWords } from './placeholders.ts'
import { shellRules } from './shell.ts'
import { firstError, type Rules, visit } from './tree.ts'

export interface ReadScript {
  template: ScriptTemplate
  warnings: ScriptWarning[]
}

/** Finds where values are inserted into a script, and how. Parses the script once. */
export async function readScript(script: string, interpreter: Interpreter): Promise<ReadScript> {
  const placeholders = placeholdersOf(script)
  const parser = await parserOf(interpreter)
  const tree = parser.parse(withWords(script, placeholders, interpreter === 'pwsh'))
  if (tree === null) throw new Error('the parser gave no tree')
  try {
    const lines = new Lines(script)
    const found = new Found(script, lines)
    const error = firstError(tree.rootNode)
    const errorAt = error?.startIndex ?? Number.POSITIVE_INFINITY
    // What the grammar makes of the text behind an error may have nothing to do with what the interpreter makes of it.
    const readable = placeholders.filter(({ end }) => end <= errorAt)
    visit(tree.rootNode, readable, rulesOf(script, interpreter, found) as Rules<unknown>)
    for (const placeholder of placeholders.slice(readable.length)) {
      const { line, column } = lines.at(errorAt)
      found.refuse(placeholder, `stands behind line ${line}, column ${column}, which cannot be read as ${interpreter}`)
    }
    if (error !== null) found.warn({ start: errorAt }, `this cannot be read as ${interpreter}`)
    return { template: found.template, warnings: found.warnings }
  } finally {
    tree.delete()
  }
}

function rulesOf(script: string, interpreter: Interpreter, found: Found) {
  switch (interpreter) {
    case 'sh':
    case 'bash':
      return shellRules(script, interpreter === 'bash', found)
    case 'python3':
      return pythonRules(script, found)
    case 'node':
      return nodeRules(script, found)
    case 'pwsh':
      return pwshRules(script, found)
  }
}

/** A script without templates, for a caller that needs no parser. */
export const hasPlaceholders = (script: string): boolean => placeholdersOf(script).length > 0
export type { Placeholder }
