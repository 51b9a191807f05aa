import { Command } from 'commander'
import { findCommand, searchHelp } from './command-tree.ts'

/** The commands of one kind of record: `slipway targets list`. Without a verb, a noun lists. */

/** How a noun adds its list: its options are those of the noun alone. */
export const LIST = { isDefault: true } as const

/** The verbs of other programs. */
const VERBS: Readonly<Record<string, string>> = {
  get: 'show',
  describe: 'show',
  ls: 'list',
  add: 'create',
  new: 'create',
  change: 'edit',
  update: 'edit',
  set: 'edit',
  remove: 'delete',
  rm: 'delete',
  revoke: 'delete',
}

/**
 * Adds a noun in the plural. The singular is its alias. `instead` says for verbs that the kind does not have what to do.
 */
export function addNoun(
  program: Command,
  name: string,
  description: string,
  instead: Readonly<Record<string, string>> = {},
): Command {
  const noun = program.command(name).description(description).helpCommand(false)
  if (name.endsWith('s')) noun.alias(name.slice(0, -1))
  return noun.hook('preSubcommand', (_, called) => {
    // Commander takes an unknown verb for an argument of the list.
    const [word, verb = ''] = noun.args
    if (word === undefined || word.startsWith('-') || findCommand(noun, word) !== undefined) return
    if (word === 'help') (findCommand(noun, verb) ?? noun).help()
    const other = instead[VERBS[word] ?? word]
    if (other !== undefined) noun.error(`error: slipway ${name} has no ${word}: ${other}`)
    if (called.registeredArguments.length === 0 || Object.hasOwn(VERBS, word)) refuseUnknownCommand(noun, word)
  })
}

/** Refuses a word in the place of a command, and suggests another one. `rest` are the words after it. */
export function refuseUnknownCommand(parent: Command, word: string, rest: readonly string[] = []): never {
  const meant = suggestCommand(parent, word, rest)
  const error = { code: 'commander.unknownCommand' }
  if (meant !== undefined) return parent.error(`error: unknown command '${word}'\n(Did you mean ${meant}?)`, error)
  const hint = describeOthers(parent, word)
  // A command with these subcommands and without a default refuses the word, and suggests one that is spelled alike.
  const judge = new Command(parent.name()).copyInheritedSettings(parent).showHelpAfterError(`(${hint})`)
  for (const one of parent.commands) judge.command(one.name())
  judge.parse([word], { from: 'user' })
  throw new Error(`the command ${parent.name()} ${word} exists`)
}

const MAX_FOUND = 8

/** What else an unknown word may mean: a record of a kind, or something that the help of other commands is about. */
function describeOthers(parent: Command, word: string): string {
  const where = '--help lists commands and options'
  if (parent.parent !== null)
    return findCommand(parent, 'show') === undefined
      ? where
      : `\`slipway ${parent.name()} show ${word}\` shows one; ${where}`
  const found = searchHelp(parent, word).slice(0, MAX_FOUND)
  return found.length === 0 ? where : `"${word}" is in the help of: ${found.join(', ')}`
}

/** The command that a word of another program, its beginning, or another order of the words stands for. */
function suggestCommand(parent: Command, word: string, rest: readonly string[]): string | undefined {
  const verb = VERBS[word] ?? word
  if (findCommand(parent, verb) !== undefined) return verb
  const [noun, ...others] = rest.map((one) => findCommand(parent, one))
  if (noun !== undefined && findCommand(noun, verb) !== undefined && others.length <= 1)
    return `slipway ${noun.name()} ${verb}`
  const longer = parent.commands.filter((one) => word.length > 1 && one.name().startsWith(word))
  if (longer.length > 0) return longer.map((one) => one.name()).join(', ')
  return undefined
}
