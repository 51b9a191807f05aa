import type { Interpreter, ScriptTemplate } from '@slipway/domain'
import type { Node } from 'web-tree-sitter'
import { Found, type ScriptWarning } from './found.ts'
import { parserOf } from './grammars.ts'
import { nodeRules, pwshRules, pythonRules } from './languages.ts'
import { Lines, placeholdersOf, withWords } from './placeholders.ts'
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
    const errorAt = Math.min(
      error?.startIndex ?? Number.POSITIVE_INFINITY,
      misreadAt(script, interpreter, tree.rootNode),
    )
    // What the grammar makes of the text behind an error may have nothing to do with what the interpreter makes of it.
    const readable = placeholders.filter(({ end }) => end <= errorAt)
    visit(tree.rootNode, readable, rulesOf(script, interpreter, found, tree.rootNode) as Rules<unknown>)
    for (const placeholder of placeholders.slice(readable.length)) {
      const { line, column } = lines.at(errorAt)
      found.refuse(
        placeholder,
        `stands behind line ${line}, column ${column}, which cannot be read as ${interpreter}; read SLIPWAY_VAR_… from the environment`,
      )
    }
    if (error !== null) found.warn({ start: error.startIndex }, `this cannot be read as ${interpreter}`)
    return { template: found.template, warnings: found.warnings }
  } finally {
    tree.delete()
  }
}

/**
 * Where a shell reads a script in another way than the grammar, without an error of the grammar: a line that continues in the
 * middle of a word, and `$'…'`, which sh does not know. Infinity if nowhere.
 */
function misreadAt(script: string, interpreter: Interpreter, root: Node): number {
  if (interpreter !== 'sh' && interpreter !== 'bash') return Number.POSITIVE_INFINITY
  const continued = /[^\s\\]\\\n\S/.exec(script)?.index ?? Number.POSITIVE_INFINITY
  const quoted = interpreter === 'sh' ? root.descendantsOfType('ansi_c_string')[0]?.startIndex : undefined
  return Math.min(continued, quoted ?? Number.POSITIVE_INFINITY)
}

function rulesOf(script: string, interpreter: Interpreter, found: Found, root: Node) {
  switch (interpreter) {
    case 'sh':
    case 'bash':
      return shellRules(script, interpreter === 'bash', found, root)
    case 'python3':
      return pythonRules(script, found)
    case 'node':
      return nodeRules(script, found)
    case 'pwsh':
      return pwshRules(script, found)
  }
}
