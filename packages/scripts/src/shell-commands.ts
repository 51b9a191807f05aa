import type { Node } from 'web-tree-sitter'
import { isSame } from './tree.ts'

/** What a command does with one of its words, beyond taking it as data. */
export type WordUse =
  | { kind: 'data' }
  | { kind: 'number' }
  | { kind: 'refused'; reason: string }
  | { kind: 'data'; warning: string }

const DATA: WordUse = { kind: 'data' }
const refused = (reason: string): WordUse => ({ kind: 'refused', reason })

const SHELLS = new Set(['sh', 'bash', 'dash', 'ksh', 'zsh', 'ash', 'rbash', 'busybox'])
const INTERPRETERS = new Set([
  'python',
  'python3',
  'python2',
  'node',
  'perl',
  'ruby',
  'php',
  'pwsh',
  'lua',
  'deno',
  'bun',
])

/** Builtins that run their words as commands. */
const EVALUATING = new Set(
  'eval let trap alias source . fc bind complete compgen enable builtin command exec'.split(' '),
)
/** Builtins that take names of variables, whose subscripts the shell evaluates. */
const NAMING = new Set(
  'read mapfile readarray unset getopts declare typeset local readonly export integer wait'.split(' '),
)
/** Programs that evaluate an argument in a language of their own. */
const OTHER_LANGUAGES = new Set(
  'ssh su psql mysql mariadb sqlite3 mongosh redis-cli awk gawk mawk sed jq find watch parallel expect osascript'.split(
    ' ',
  ),
)

/** Commands whose words begin another command. `valued`: options with a value; `first`: words before the command. */
const WRAPPERS: Record<string, { valued: string; first: number }> = {
  command: { valued: '', first: 0 },
  builtin: { valued: '', first: 0 },
  exec: { valued: 'a', first: 0 },
  sudo: { valued: 'ughpCrtTUDR', first: 0 },
  doas: { valued: 'uC', first: 0 },
  env: { valued: 'uC', first: 0 },
  nice: { valued: 'n', first: 0 },
  ionice: { valued: 'cnp', first: 0 },
  nohup: { valued: '', first: 0 },
  setsid: { valued: '', first: 0 },
  time: { valued: 'fo', first: 0 },
  coproc: { valued: '', first: 0 },
  timeout: { valued: 'sk', first: 1 },
  stdbuf: { valued: 'ioe', first: 0 },
  chroot: { valued: '', first: 1 },
  flock: { valued: 'wE', first: 1 },
  xargs: { valued: 'aEIiLlnPsd', first: 0 },
}

/** A word of a command: its text if nothing in it is expanded, else null. */
interface Word {
  node: Node
  text: string | null
}

export interface CommandWords {
  words: Word[]
  /** The index of the word that names the program, behind wrappers such as `sudo -u app`. */
  program: number
  /** Words before the program that are no data: they could become the program. */
  name: string | null
}

const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*=/

function literal(node: Node): string | null {
  const { type, text } = node
  if (type === 'command_name') return node.namedChild(0) === null ? text : literal(node.namedChild(0) as Node)
  if (type === 'word' || type === 'number') return text.replace(/\\(.)/gs, '$1')
  if (type === 'raw_string') return text.slice(1, -1)
  if (type === 'string') return /[$`\\]/.test(text) ? null : text.slice(1, -1)
  if (type === 'concatenation') {
    const parts = node.namedChildren.map((child) => (child === null ? null : literal(child)))
    return parts.includes(null) ? null : parts.join('')
  }
  return null
}

const NO_WORDS = new Set(['variable_assignment', 'herestring_redirect', 'file_redirect', 'heredoc_redirect'])

const baseName = (text: string) => text.slice(text.lastIndexOf('/') + 1)

/** The words of a `command` node, and the program that it starts. */
export function commandWords(command: Node): CommandWords {
  const words = command.namedChildren.flatMap((node) =>
    node === null || NO_WORDS.has(node.type) ? [] : [{ node, text: literal(node) }],
  )
  let program = 0
  for (;;) {
    const name = words[program]?.text ?? null
    const wrapper = name === null ? undefined : WRAPPERS[baseName(name)]
    if (wrapper === undefined) break
    const next = behindWrapper(words, program + 1, wrapper)
    if (next >= words.length) break
    program = next
  }
  const text = words[program]?.text ?? null
  return { words, program, name: text === null ? null : baseName(text) }
}

function behindWrapper(
  words: readonly Word[],
  from: number,
  { valued, first }: { valued: string; first: number },
): number {
  let at = from
  let skipped = 0
  for (; at < words.length; at += 1) {
    const text = words[at]?.text ?? ''
    if (text === '--') return at + 1 + (first - skipped)
    if (/^-[A-Za-z]$/.test(text) && valued.includes(text[1] ?? '')) at += 1
    else if (text.startsWith('-') || ASSIGNMENT.test(text)) continue
    else if (skipped < first) skipped += 1
    else return at
  }
  return at
}

/** Whether this command runs its standard input as shell code. */
export function runsItsInput(command: Node): boolean {
  const { words, program, name } = commandWords(command)
  if (name === 'at' || name === 'batch') return true
  if (baseName(words[0]?.text ?? '') === 'xargs' || name === 'parallel') {
    return words.some(({ text }) => text !== null && SHELLS.has(baseName(text)))
  }
  if (name === null || !SHELLS.has(name)) return false
  const rest = words.slice(program + 1).map(({ text }) => text)
  if (rest.some((text) => text !== null && /^-[A-Za-z]*c$/.test(text))) return false
  const script = rest.find((text) => text === null || !/^[-+]/.test(text))
  return (
    script === undefined || rest.some((text) => text !== null && /^-[A-Za-z]*s/.test(text)) || script === '/dev/stdin'
  )
}

/** Whether the program evaluates its input in a language of its own. */
export function readsItsInput(command: Node): boolean {
  const { name } = commandWords(command)
  return name !== null && (OTHER_LANGUAGES.has(name) || INTERPRETERS.has(name))
}

/** What the command does with the word in which a template stands. `prefix`: the text of the word before the template. */
export function useOf({ words, program, name }: CommandWords, word: Node, prefix: string): WordUse {
  const index = words.findIndex(({ node }) => isSame(word, node))
  if (index < 0) return refused('stands where the command takes no data')
  const others = words.slice(0, index).map(({ text }) => text)
  if (index === program) return refused('would name the program to run; put the program into the script')
  if (index < program) return ofWrapper(others, prefix)
  const shell = evaluatedByShell(others)
  if (shell !== null) return shell
  if (name === null) return DATA
  if (EVALUATING.has(name)) return refused(`is evaluated by \`${name}\`; use "$SLIPWAY_VAR_…" in a command of its own`)
  if (NAMING.has(name)) return refused(`would be a name for \`${name}\`; write the name of a variable into the script`)
  const position = index - program - 1
  const before = words.slice(program + 1, index).map(({ text }) => text)
  if (SHELLS.has(name) || INTERPRETERS.has(name)) return ofInterpreter(name, before)
  if (name === 'printf') return ofPrintf(before)
  if (name === 'test' || name === '[') return ofTest(before, words.length - program - 1)
  if (name === 'set')
    return before.includes('--') ? DATA : refused('could be an option of `set`; write `set -- {{ … }}`')
  if (OTHER_LANGUAGES.has(name) && position >= 0) {
    return {
      kind: 'data',
      warning: `\`${name}\` evaluates its arguments once more: the value is data for the shell only`,
    }
  }
  return DATA
}

/** A word before the program: the value of an option, or an assignment of `env`. */
function ofWrapper(before: readonly (string | null)[], prefix: string): WordUse {
  if (
    baseName(before[0] ?? '') === 'env' &&
    before.some((text) => text !== null && /^(-S|--split-string)/.test(text))
  ) {
    return refused('is split into a command by `env -S`; write the words one by one')
  }
  const name = ASSIGNMENT.exec(prefix)?.[0].slice(0, -1)
  if (name !== undefined && EVALUATED_NAMES.has(name))
    return refused(`would be evaluated: a shell runs what ${name} holds`)
  return DATA
}

/** `sh -c STRING`, behind whatever stands before it. */
function evaluatedByShell(before: readonly (string | null)[]): WordUse | null {
  const last = before.at(-1) ?? null
  const isCode = last !== null && /^-[A-Za-z]*c$/.test(last)
  const shell = before.findLast((text) => text !== null && SHELLS.has(baseName(text)))
  if (!isCode || shell === undefined) return null
  return refused(
    `is evaluated once more by \`${shell} -c\`; hand it over as an argument: ${shell} -c 'echo "$1"' _ {{ … }}`,
  )
}

/** Before the name of a script file, a value could be an option such as `-c`. */
function ofInterpreter(name: string, before: readonly (string | null)[]): WordUse {
  const code = before.findIndex((text) => text !== null && /^-[A-Za-z]*[ce]$/.test(text))
  if (code >= 0 && code === before.length - 1) return refused(`is code for \`${name}\`; hand it over as an argument`)
  const hasScript = code >= 0 || before.some((text) => text !== null && !text.startsWith('-'))
  return hasScript ? DATA : refused(`could be an option or the script of \`${name}\`; write the file into the script`)
}

function ofPrintf(before: readonly (string | null)[]): WordUse {
  if (before[0] === '-v' && before.length === 1) return refused('would be a name for `printf -v`')
  const format = before[0] === '-v' ? 2 : before[0] === '--' ? 1 : 0
  if (before.length < format) return refused('would be an option of `printf`')
  return before.length > format ? DATA : { kind: 'number' }
}

function ofTest(before: readonly (string | null)[], count: number): WordUse {
  const operator = before.at(-1) ?? null
  if (operator === '-v' || operator === '-R') return refused(`would be a name for \`test ${operator}\``)
  const words = before[0] === '!' ? before.length - 1 : before.length
  const isOperator = words === 0 && count - (before.length - words) === 2
  return isOperator ? refused('could be an operator of `test`; compare it with `=` or `!=`') : DATA
}

/** Variables whose value a shell runs or by which it splits words. */
export const EVALUATED_NAMES = new Set(['PS4', 'BASH_ENV', 'ENV', 'PROMPT_COMMAND', 'IFS', 'PS0', 'PS1'])
