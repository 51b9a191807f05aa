import type { Node } from 'web-tree-sitter'
import { EVALUATED_NAMES, INTEGER_NAMES } from './shell-commands.ts'

/** What a whole script says of its names and functions. */
export interface Declarations extends Names {
  /** Functions that run their arguments or their input. */
  risky: ReadonlySet<string>
  /** Whether functions are handed to other shells, which lack the variables that hold the values. */
  exportsFunctions: boolean
  /** Why no value may stand anywhere in the script, or null. */
  refused: string | null
}

export function readDeclarations(script: string, root: Node): Declarations {
  const plain = script.replaceAll('\\\n', '')
  const names = namesOf(plain, root)
  const functions = root
    .descendantsOfType('function_definition')
    .filter((node) => /\b(eval|sh|bash|dash|ksh|zsh|source)\b/.test(node?.childForFieldName('body')?.text ?? ''))
  return {
    ...names,
    risky: new Set(functions.map((node) => node?.childForFieldName('name')?.text ?? '')),
    exportsFunctions: /\b(export|declare|typeset)[ \t]+-[A-Za-z]*f/.test(plain),
    refused: refusal(plain, names),
  }
}

function refusal(plain: string, { integers }: Names): string | null {
  // What is read into such a name is evaluated, from wherever it comes.
  const reads = Array.from(plain.matchAll(/\b(?:read|mapfile|readarray)\b([^\n;|&<]*)/g), ([, words = '']) => words)
  const read = reads.flatMap((words) => words.match(/[A-Za-z_]\w*/g) ?? [])
  if (read.some((name) => EVALUATED_NAMES.has(name) || integers.has(name))) {
    return 'could be read into a variable that the shell evaluates; use "$SLIPWAY_VAR_…"'
  }
  const feedsShell = />\([^)]*\b(sh|bash|dash|ksh|zsh|eval|source)\b/.test(plain)
  return feedsShell ? 'could be handed to the shell behind >( ); hand it over as an argument' : null
}

interface Names {
  /** An assignment evaluates its value. */
  integers: Set<string>
  arrays: Set<string>
}

const DECLARATION = /\b(?:declare|typeset|local|readonly|export|integer)[ \t]+([^\n]*)/g
const ARRAY =
  /\b([A-Za-z_][A-Za-z0-9_]*)(?:\+?=\(|\[)|\b(?:mapfile|readarray|read[ \t]+-[A-Za-z]*a)[ \t]+(?:-[^ \t\n]+[ \t]+)*([A-Za-z_]\w*)/g

/** In doubt a name counts as an integer: then it takes fewer values. */
function namesOf(text: string, root: Node): Names {
  const integers = new Set<string>(INTEGER_NAMES)
  const arrays = new Set(Array.from(text.matchAll(ARRAY), ([, name, read]) => name ?? read ?? ''))
  const namesIn = (words: string) => words.match(/[A-Za-z_][A-Za-z0-9_]*/g) ?? []
  for (const [declaration, words = ''] of text.matchAll(DECLARATION)) {
    const options = words.match(/(?<=^|\s)["']?[-+][A-Za-z]+/g)?.join('') ?? ''
    if (declaration.startsWith('integer') || /[in]/.test(options)) for (const name of namesIn(words)) integers.add(name)
    if (/[aA]/.test(options)) for (const name of namesIn(words)) arrays.add(name)
  }
  for (const node of root.descendantsOfType('declaration_command')) {
    const children = node?.namedChildren ?? []
    const options = children.filter((child) => child?.type === 'word').map((child) => child?.text ?? '')
    // A word that is expanded may be any option.
    const isOpen = children.some((child) => child !== null && !KNOWN_WORDS.has(child.type))
    if (!isOpen && !options.some((option) => /^[-+][A-Za-z]*[in]/.test(option))) continue
    for (const child of children) for (const name of namesIn(child?.text ?? '')) integers.add(name)
  }
  return { integers, arrays }
}

const KNOWN_WORDS = new Set(['word', 'variable_name', 'variable_assignment', 'number'])
