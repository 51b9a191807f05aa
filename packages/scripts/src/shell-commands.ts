import type { Node } from 'web-tree-sitter'

/** What a command does with one of its words, beyond taking it as data. */
export type WordUse =
  | { kind: 'data'; warning?: string }
  | { kind: 'number' }
  | { kind: 'refused'; reason: string }
  /** Data, if literal text with a slash follows: then the value is only the folder of a program. */
  | { kind: 'folder'; reason: string }

const DATA: WordUse = { kind: 'data' }
const refused = (reason: string): WordUse => ({ kind: 'refused', reason })

const setOf = (words: string) => new Set(words.split(' '))
const SHELLS = setOf('sh bash dash ksh zsh ash rbash busybox')
const INTERPRETERS = setOf('python python3 python2 node perl ruby php pwsh lua deno bun')
/** Builtins and programs that run their words as commands. */
const EVALUATING = setOf(
  "eval let trap alias fc bind complete compgen enable jobs coproc runuser script sg newgrp $'…'",
)
const SOURCING = setOf('. source')
/** Builtins that take names of variables, whose subscripts the shell evaluates. */
const NAMING = setOf('read mapfile readarray unset getopts declare typeset local readonly export integer wait')
/** Programs that evaluate an argument or their input in a language of their own. */
const OTHER_LANGUAGES = setOf(
  'ssh su psql mysql mariadb sqlite3 mongosh redis-cli awk gawk mawk sed jq find watch parallel expect make ansible ansible-playbook crontab ed dc bc sftp',
)

/** Commands whose words begin another command. `valued`: options with a value; `first`: words before the command. */
const WRAPPERS = new Map<string, { valued: string; first: number }>([
  ['command', { valued: '', first: 0 }],
  ['builtin', { valued: '', first: 0 }],
  ['exec', { valued: 'a', first: 0 }],
  ['sudo', { valued: 'ughpCrtTUDR', first: 0 }],
  ['doas', { valued: 'uC', first: 0 }],
  ['env', { valued: 'uC', first: 0 }],
  ['nice', { valued: 'n', first: 0 }],
  ['ionice', { valued: 'cnp', first: 0 }],
  ['nohup', { valued: '', first: 0 }],
  ['setsid', { valued: '', first: 0 }],
  ['time', { valued: 'fo', first: 0 }],
  ['timeout', { valued: 'sk', first: 1 }],
  ['stdbuf', { valued: 'ioe', first: 0 }],
  ['chroot', { valued: '', first: 1 }],
  ['flock', { valued: 'wE', first: 1 }],
  ['xargs', { valued: 'aEIiLlnPsd', first: 0 }],
])
const LONG_VALUED = setOf('--user --group --signal --kill-after --unset --chdir --adjustment --delimiter --max-args')

/** A word of a command: its text if nothing in it is expanded, else null. */
interface Word {
  start: number
  /** As it stands in the script. */
  source: string
  text: string | null
}

export interface CommandWords {
  words: Word[]
  /** The index of each word by its position. */
  indexOf: ReadonlyMap<number, number>
  /** The index of the word that names the program, behind wrappers such as `sudo -u app`. */
  program: number
  name: string | null
  /** Why each word is code, or null. */
  codes: readonly (string | null)[]
}

const ASSIGNMENT = /^['"]?([A-Za-z_][A-Za-z0-9_]*)=/

function literal(node: Node): string | null {
  const { type } = node
  const text = node.text.replaceAll('\\\n', '')
  if (type === 'command_name') {
    const inner = node.namedChild(0)
    return inner === null ? text : literal(inner)
  }
  if (type === 'word' || type === 'number') return text.replace(/\\(.)/gs, '$1')
  if (type === 'raw_string') return text.slice(1, -1)
  if (type === 'string') return /[$`\\]/.test(text) ? null : text.slice(1, -1)
  if (type === 'concatenation') {
    const parts = node.namedChildren.map((child) => (child === null ? null : literal(child)))
    return parts.includes(null) ? null : parts.join('')
  }
  return null
}

const NO_WORDS = setOf('variable_assignment herestring_redirect file_redirect heredoc_redirect')
const baseName = (text: string) => text.slice(text.lastIndexOf('/') + 1)
const isShell = (text: string | null) => text !== null && SHELLS.has(baseName(text))
const isInterpreter = (text: string | null) => text !== null && INTERPRETERS.has(baseName(text))

/** The words of a `command` node, and the program that it starts. */
export function commandWords(command: Node): CommandWords {
  const words = command.namedChildren.flatMap((node) =>
    node === null || NO_WORDS.has(node.type)
      ? []
      : [{ start: node.startIndex, source: node.text, text: literal(node) }],
  )
  let program = 0
  for (;;) {
    const name = words[program]?.text ?? null
    const wrapper = name === null ? undefined : WRAPPERS.get(baseName(name))
    // `command -v` only looks for a program.
    if (wrapper === undefined || (name === 'command' && /^-[vV]/.test(words[program + 1]?.text ?? ''))) break
    const next = behindWrapper(words, program + 1, wrapper)
    if (next >= words.length) break
    program = next
  }
  const text = words[program]?.text ?? null
  // An unusual way to write the name of a program: it may be any.
  const isOdd =
    text === null && command.namedChildren.some((node) => node?.type === 'command_name' && /\$['"]/.test(node.text))
  const indexOf = new Map(words.map(({ start }, index) => [start, index]))
  return {
    words,
    indexOf,
    program,
    codes: codesOf(words),
    name: isOdd ? "$'…'" : text === null ? null : baseName(text),
  }
}

function behindWrapper(words: readonly Word[], from: number, wrapper: { valued: string; first: number }): number {
  let at = from
  let skipped = 0
  for (; at < words.length; at += 1) {
    const text = words[at]?.text ?? ''
    if (text === '--') return at + 1 + (wrapper.first - skipped)
    if (/^-[A-Za-z]+$/.test(text) && wrapper.valued.includes(text.at(-1) ?? '')) at += 1
    else if (LONG_VALUED.has(text)) at += 1
    else if (text.startsWith('-') || ASSIGNMENT.test(text)) continue
    else if (skipped < wrapper.first) skipped += 1
    else return at
  }
  return at
}

/** Whether this command runs its standard input as shell code. In doubt it does. */
export function runsItsInput(command: Node): boolean {
  const { words, name } = commandWords(command)
  if (name !== null && (SOURCING.has(name) || ['eval', 'at', 'batch', 'newgrp', 'sg'].includes(name))) return true
  const texts = words.map(({ text }) => text)
  const isSudo = texts.some((text) => text !== null && baseName(text) === 'sudo')
  if (isSudo && texts.some((text) => text !== null && /^-[A-Za-z]*[si]/.test(text))) return true
  if (/^(mapfile|readarray)$/.test(name ?? '') && texts.some((text) => /^-[A-Za-z]*C/.test(text ?? ''))) return true
  const shell = texts.findIndex(isShell)
  if (shell < 0) return false
  // `xargs sh -c` and `parallel` put their input into the code.
  if (texts.slice(0, shell).some((text) => ['xargs', 'parallel'].includes(baseName(text ?? '')))) return true
  for (let at = shell + 1; at < texts.length; at += 1) {
    const text = texts[at] ?? null
    if (text === null) return true
    if (/^-[A-Za-z]*c[A-Za-z]*$/.test(text)) {
      const code = texts.slice(at + 1).find((word) => word === null || !/^[-+]/.test(word)) ?? null
      return code === null || /\b(sh|bash|dash|ksh|zsh|eval|source)\b|(^|[\s;])\.\s/.test(code)
    }
    if (/^[-+][A-Za-z]*[oO]$|^--(rcfile|init-file)$/.test(text)) at += 1
    else if (/^-[A-Za-z]*s/.test(text)) return true
    else if (!/^[-+]/.test(text)) return /^\/(dev|proc)\//.test(text)
  }
  return true
}

/** Whether the program evaluates its input in a language of its own. */
export function readsItsInput(command: Node): boolean {
  const { name } = commandWords(command)
  return name !== null && (OTHER_LANGUAGES.has(name) || INTERPRETERS.has(name))
}

/** What the command does with the word at this position. `text` is the source of the word. */
export function useOf({ words, indexOf, program, name, codes }: CommandWords, start: number, text: string): WordUse {
  const index = indexOf.get(start)
  if (index === undefined) return refused('stands where the command takes no data')
  if (index === program) {
    return { kind: 'folder', reason: 'would name the program to run; write the program into the script' }
  }
  const code = codes[index] ?? null
  if (code !== null) return refused(code)
  if (index < program) return ofWrapper(text)
  if (name === null) return DATA
  if (name === 'command') return DATA
  if (EVALUATING.has(name)) return refused(`is evaluated by \`${name}\`; use "$SLIPWAY_VAR_…" in a command of its own`)
  if (SOURCING.has(name)) return { kind: 'folder', reason: `is run by \`${name}\`; write the file into the script` }
  if (NAMING.has(name)) return refused(`would be a name for \`${name}\`; write the name of a variable into the script`)
  if (!POSITIONAL.has(name)) return OTHER_LANGUAGES.has(name) ? otherLanguage(name) : DATA
  const own = words.slice(program + 1, index).map((word) => word.text)
  if (SHELLS.has(name) || INTERPRETERS.has(name)) {
    return own.some((word) => word !== null && !/^[-+]/.test(word))
      ? DATA
      : refused(`could be an option or the script of \`${name}\`; write the file into the script`)
  }
  if (name === 'printf') return ofPrintf(own)
  if (name === 'test' || name === '[') return ofTest(own, words[index + 1]?.text ?? null, words.length - program - 1)
  if (name === 'set' && !own.includes('--')) return refused('could be an option of `set`; write `set -- {{ … }}`')
  return DATA
}

/** Programs for which it matters what stands before a word. */
const POSITIONAL = new Set([...SHELLS, ...INTERPRETERS, 'printf', 'test', '[', 'set'])

const otherLanguage = (name: string): WordUse => ({
  kind: 'data',
  warning: `\`${name}\` evaluates its arguments once more: the value is data for the shell only`,
})

/** A word before the program: the value of an option, or an assignment of `env`. */
function ofWrapper(text: string): WordUse {
  const name = ASSIGNMENT.exec(text)?.[1]
  if (name !== undefined && EVALUATED_NAMES.has(name)) {
    return refused(`would be evaluated: a shell runs what ${name} holds`)
  }
  return DATA
}

const CODE_OPTION = /^(-[A-Za-z]*[ceEpr]|--(eval|print|command|execute))$/

/**
 * For each word, why it is code because of the words before it: `sh -c STRING` and its like. A word that is expanded may be a
 * shell too.
 */
function codesOf(words: readonly Word[]): (string | null)[] {
  let runner: string | null = null
  let isShellFound = false
  // Behind the option, other options may stand before the code.
  let isCodeNext = false
  let [isEnv, isSplit] = [false, false]
  return words.map(({ text, source }) => {
    const splits = /^['"]?(-[A-Za-z]*S|--split-string)/.test(source)
    isSplit ||= isEnv && splits
    const isGlued = runner !== null && isShellFound && /^['"]?-[A-Za-z]*c./.test(source)
    const reason = isSplit
      ? 'is split into a command by `env -S`; write the words one by one'
      : isCodeNext || isGlued
        ? codeReason(runner ?? '', isShellFound)
        : null
    if (text !== null && baseName(text) === 'env') isEnv = true
    if (isCodeNext && (text === null || !/^[-+]/.test(text))) isCodeNext = false
    if (text === null || isShell(text)) [runner, isShellFound] = [text === null ? 'sh' : baseName(text), true]
    else if (isInterpreter(text)) [runner, isShellFound] = [baseName(text), false]
    if (runner !== null && text !== null) {
      isCodeNext ||= isShellFound ? /^-[A-Za-z]*c[A-Za-z]*$/.test(text) : CODE_OPTION.test(text)
    }
    return reason
  })
}

const codeReason = (runner: string, isOfShell: boolean) =>
  isOfShell
    ? `is evaluated once more by \`${runner} -c\`; hand it over as an argument: ${runner} -c 'echo "$1"' _ {{ … }}`
    : `is code for \`${runner}\`; hand it over as an argument, or read SLIPWAY_VAR_… in the code`

function ofPrintf(before: readonly (string | null)[]): WordUse {
  if (before[0] === '-v' && before.length === 1) return refused('would be a name for `printf -v`')
  if (before[0] === '-v') return { kind: 'number' }
  const format = before[0] === '--' ? 1 : 0
  return before.length > format ? DATA : { kind: 'number' }
}

const COMPARISON = /^(=|==|!=|<|>|-(eq|ne|lt|le|gt|ge|nt|ot|ef))$/

/** A value beside no operator could itself be one, such as `-v`. */
function ofTest(before: readonly (string | null)[], next: string | null, count: number): WordUse {
  const previous = before.at(-1) ?? ''
  if (previous === '-v' || previous === '-R') return refused(`would be a name for \`test ${previous}\``)
  const isCompared = COMPARISON.test(previous) || COMPARISON.test(next ?? '') || /^-[b-hknpr-uwxzGLNOS]$/.test(previous)
  return isCompared || count === 1 ? DATA : refused('could be an operator of `test`; compare it with `=` or `!=`')
}

/** Variables whose value a shell runs or by which it splits words. */
export const EVALUATED_NAMES = setOf('PS4 BASH_ENV ENV PROMPT_COMMAND IFS PS0 PS1 BASH_ALIASES')
/** Variables of bash whose assignments evaluate arithmetic. */
export const INTEGER_NAMES = 'RANDOM SRANDOM SECONDS OPTIND HISTCMD LINENO BASHPID EPOCHSECONDS'.split(' ')
