import { type Command, CommanderError } from 'commander'
import { buildProgram } from '../src/commands/program.ts'
import { createIo } from './slipway.ts'

/** Splits a command line at blanks up to its end: a pipe, a redirection, a comment or a bracket. */
export function readWords(line: string): string[] {
  const words: string[] = []
  for (const [token] of line.replaceAll('\\\n', ' ').matchAll(/(?:"[^"]*"|'[^']*'|[^\s|&;<>)#"'])+|[|&;<>)#]/g)) {
    if (/^[|&;<>)#]$/.test(token)) break
    words.push(token.replaceAll(/["']/g, ''))
  }
  return words
}

/** Error codes of a call in a sentence that leaves out arguments or replaces them by a word such as N. */
const INCOMPLETE = new Set([
  'commander.help',
  'commander.invalidArgument',
  'commander.missingArgument',
  'commander.missingMandatoryOptionValue',
  'commander.optionMissingArgument',
])

/** Returns why the command line refuses these words, or null. Runs no subcommand. */
export function parse(words: readonly string[], { mayBeIncomplete = false } = {}): string | null {
  const program = buildProgram(createIo().io)
  replaceActions(program)
  try {
    program.parse(words, { from: 'user' })
    return null
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    const isFine = error.exitCode === 0 || (mayBeIncomplete && INCOMPLETE.has(error.code))
    return isFine ? null : error.message
  }
}

function replaceActions(command: Command): void {
  command.configureOutput({ writeOut: () => {}, writeErr: () => {} })
  // A subcommand with nested subcommands has an action of its own only if it has arguments.
  if (command.commands.length === 0 || command.registeredArguments.length > 0) command.action(() => {})
  for (const child of command.commands) replaceActions(child)
}
