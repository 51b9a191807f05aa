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
 * interpreter, the `#!` line decides; without such a line it is sh.
 */
export function prepareScript(text: string, given: Interpreter | undefined): PreparedScript {
  const withoutMark = text.startsWith('\uFEFF') ? text.slice(1) : text
  const named = programOf(withoutMark)
  const interpreter = given ?? (named === null ? 'sh' : (PROGRAMS[named] ?? 'sh'))
  const isShell = interpreter === 'sh' || interpreter === 'bash'
  const hasReturns = isShell && withoutMark.includes('\r\n')
  return {
    script: hasReturns ? withoutMark.replaceAll('\r\n', '\n') : withoutMark,
    interpreter,
    warnings: hasReturns ? ['lines end with CRLF, which a shell cannot read: they were changed to LF'] : [],
    problem: named === null ? null : programProblem(named, given),
  }
}

/** The name of the program in the `#!` line, or null without such a line. */
function programOf(script: string): string | null {
  const line = /^#![ \t]*(\S+)([^\r\n]*)/.exec(script)
  if (line === null) return null
  const [, path = '', rest = ''] = line
  const name = path.slice(path.lastIndexOf('/') + 1)
  if (name !== 'env') return name
  return rest.split(/\s+/).find((word) => word !== '' && !word.startsWith('-') && !word.includes('=')) ?? name
}

function programProblem(named: string, given: Interpreter | undefined): string | null {
  const known = PROGRAMS[named]
  if (known === undefined) {
    return `line 1 names ${named}, which is none of sh, bash, python3, node and pwsh: remove the line, or use one of these`
  }
  if (given === undefined || known === given) return null
  return `line 1 names ${named}, and the definition says ${given}: make both the same, or remove one`
}
