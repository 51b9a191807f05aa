import type { Interpreter } from './definitions.ts'

/** A script as it is stored and run. */
export interface PreparedScript {
  script: string
  interpreter: Interpreter
  /** What was changed, for people. */
  warnings: string[]
  /** Why the script cannot be published, or null. */
  problem: string | null
}

/** The programs that a `#!` line may name. */
const PROGRAMS: Record<string, Interpreter> = {
  sh: 'sh',
  dash: 'sh',
  bash: 'bash',
  python3: 'python3',
  python: 'python3',
  node: 'node',
  nodejs: 'node',
  pwsh: 'pwsh',
}

/**
 * Removes what an interpreter cannot read: a byte order mark, and in shell scripts the carriage returns of Windows. Without an
 * interpreter, the `#!` line decides; without such a line it is sh. Its options for a shell become a command, because nothing
 * else applies them.
 */
export function prepareScript(text: string, given: Interpreter | undefined): PreparedScript {
  const withoutMark = text.startsWith('\uFEFF') ? text.slice(1) : text
  const line = firstLineOf(withoutMark)
  const interpreter = given ?? (line === null ? 'sh' : (PROGRAMS[line.program] ?? 'sh'))
  const isShell = interpreter === 'sh' || interpreter === 'bash'
  const hasReturns = isShell && withoutMark.includes('\r\n')
  const script = hasReturns ? withoutMark.replaceAll('\r\n', '\n') : withoutMark
  const set = line === null ? '' : setCommand(line.options, interpreter)
  const warnings = hasReturns ? ['lines end with CRLF, which a shell cannot read: they were changed to LF'] : []
  if (set) warnings.push(`line 1 has options, which only the kernel reads: they were changed to \`${set}\``)
  return {
    script: set ? `${set} # ${script}` : script,
    interpreter,
    warnings,
    problem: line === null ? null : (programProblem(line.program, given) ?? optionsProblem(line.options, set)),
  }
}

interface FirstLine {
  program: string
  /** The words behind the program, without those that change nothing. */
  options: string[]
}

/** What the `#!` line says, or null without such a line. */
function firstLineOf(script: string): FirstLine | null {
  const line = /^#![ \t]*(\S+)([^\r\n]*)/.exec(script)
  if (line === null) return null
  const [, path = '', rest = ''] = line
  const words = rest.split(/\s+/).filter((word) => word !== '')
  const name = path.slice(path.lastIndexOf('/') + 1)
  const at = name === 'env' ? words.findIndex((word) => !word.startsWith('-') && !word.includes('=')) : -1
  const program = words[at] ?? name
  const options = words.slice(at + 1)
  return { program, options: options.filter((word) => !isHarmless(word, PROGRAMS[program])) }
}

/** Options that change nothing for a script in a file. */
const isHarmless = (word: string, interpreter: Interpreter | undefined) =>
  /^--?$/.test(word) ||
  (interpreter === 'python3' && /^-[uB]+$/.test(word)) ||
  (interpreter === 'pwsh' && /^-(NoProfile|NoLogo|NonInteractive)$/i.test(word))

/** Options that `set` knows as well. */
const SET_OPTIONS = { sh: /^-[abefmnuvxC]*o?$/, bash: /^-[abefhkmnuvxBCEHPT]*o?$/ }

/** The command that does what the options do, null if there is none, or empty without options. */
function setCommand(options: readonly string[], interpreter: Interpreter): string | null {
  if (options.length === 0) return ''
  if (interpreter !== 'sh' && interpreter !== 'bash') return null
  const isKnown = options.every((word, index) =>
    options[index - 1]?.endsWith('o') && options[index - 1]?.startsWith('-')
      ? /^[a-z]+$/.test(word)
      : SET_OPTIONS[interpreter].test(word),
  )
  return isKnown && !options.at(-1)?.match(/^-.*o$/) ? `set ${options.join(' ')}` : null
}

function optionsProblem(options: readonly string[], set: string | null): string | null {
  if (set !== null) return null
  return `line 1 has the options ${options.join(' ')}, which are not applied: remove them, or write into the script what they do`
}

function programProblem(named: string, given: Interpreter | undefined): string | null {
  const known = PROGRAMS[named]
  if (known === undefined) {
    return `line 1 names ${named}, which is none of sh, bash, python3, node and pwsh: remove the line, or use one of these`
  }
  if (given === undefined || known === given) return null
  return `line 1 names ${named}, and the definition says ${given}: make both the same, or remove one`
}
