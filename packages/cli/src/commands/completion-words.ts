import type { Argument, Command, Option } from 'commander'

import { findCommand, LIST_VERB } from './command-tree.ts'

/** What a shell has typed, as words without quotes. */
export interface Typed {
  words: string[]
  /** The beginning of the last word that the shell does not replace. */
  kept: string
}

/** Reads the words of a shell, with their quotes and backslashes. `part` is the end of the last word that the shell replaces. */
export function readWords(raw: readonly string[], part?: string): Typed {
  const words = raw.map(unquote)
  const last = words.at(-1) ?? ''
  // Bash takes a separator for a part. It replaces what follows `=` and `:`, but `@` together with what follows.
  const replaced = part === undefined ? last : /^[=:]+$/.test(part) ? '' : unquote(part)
  const kept = last.slice(0, last.length - replaced.length)
  return { words, kept: part !== undefined && kept.endsWith('@') ? kept.slice(0, -1) : kept }
}

/** Removes quotes and backslashes. The last word may have an open quote. */
function unquote(word: string): string {
  return word.replace(
    /'([^']*)'?|"((?:\\.|[^"\\])*)"?|\\(.)/g,
    (_, single?: string, double?: string, escaped?: string) =>
      single !== undefined ? single : double !== undefined ? double.replace(/\\(["\\$`])/g, '$1') : (escaped ?? ''),
  )
}

/** Where the last word stands. */
export interface CompletionPlace {
  command: Command
  prefix: string
  /** The option that the last word is the value of. */
  option?: Option
  /** The argument that the last word may be. */
  argument?: Argument
  /** The text before the value in `--option=value`. */
  before: string
  /** The values of the program's own options. */
  globals: Record<string, string>
}

/** Finds the command, and the option or argument of the last word. */
export function findPlace(program: Command, words: readonly string[]): CompletionPlace {
  let command = program
  let option: Option | undefined
  let position = 0
  const globals: Record<string, string> = {}
  for (const word of words.slice(0, -1)) {
    if (option !== undefined) {
      if (program.options.includes(option)) globals[option.attributeName()] = word
      option = undefined
    } else if (word.startsWith('-') && word !== '-') {
      const found = findOption(command, word.split('=', 1)[0] ?? '')
      if (!found?.required) continue
      if (!word.includes('=')) option = found
      else if (program.options.includes(found)) globals[found.attributeName()] = word.slice(word.indexOf('=') + 1)
    } else {
      const child = findCommand(command, word)
      if (child === undefined) position += 1
      else [command, position] = [child, 0]
    }
  }
  const last = words.at(-1) ?? ''
  const [name = '', ...value] = last.split('=')
  const inline = value.length > 0 && last.startsWith('--') ? findOption(command, name) : undefined
  if (inline?.required) return { command, option: inline, prefix: value.join('='), before: `${name}=`, globals }
  const place = { command, prefix: last, before: '', globals }
  if (option !== undefined) return { ...place, option }
  const argument = command.registeredArguments[position] ?? command.registeredArguments.findLast((one) => one.variadic)
  return argument === undefined ? place : { ...place, argument }
}

const findOption = (command: Command, name: string) =>
  getOptions(command).find(({ long, short }) => name === long || name === short)

/** Returns the options of the command and of its parents, with --help. A noun has those of its list. */
export function getOptions(command: Command): Option[] {
  const help = command.createHelp()
  const list = findCommand(command, LIST_VERB)
  const own = [command, ...(list === undefined ? [] : [list])].flatMap((one) => help.visibleOptions(one))
  const global = getParents(command).flatMap(({ options }) => options)
  return [...new Map([...own, ...global].map((option) => [option.long, option])).values()]
}

const getParents = ({ parent }: Command): Command[] => (parent === null ? [] : [parent, ...getParents(parent)])
