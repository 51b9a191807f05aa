import { Command } from 'commander'

/** The commands of one kind of record: `slipway targets list`. Without a verb, a noun lists. */

/** The verb that a noun alone stands for. */
export const LIST_VERB = 'list'

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
  const noun = program.command(name).description(description)
  if (name.endsWith('s')) noun.alias(name.slice(0, -1))
  return noun.hook('preSubcommand', (_, called) => {
    // Commander takes an unknown verb for an argument of the list.
    const [word] = noun.args
    if (word === undefined || word.startsWith('-') || findCommand(noun, word) !== undefined) return
    const other = instead[VERBS[word] ?? word]
    if (other !== undefined) noun.error(`error: slipway ${name} has no ${word}: ${other}`)
    if (called.registeredArguments.length === 0 || Object.hasOwn(VERBS, word)) refuseUnknownCommand(noun, word)
  })
}

export const getNames = (command: Command) => [command.name(), ...command.aliases()]

export const findCommand = (parent: Command, word: string): Command | undefined =>
  parent.commands.find((one) => getNames(one).includes(word))

/** Refuses a word in the place of a command, and suggests another one. */
export function refuseUnknownCommand(parent: Command, word: string): never {
  const meant = VERBS[word]
  if (meant !== undefined && findCommand(parent, meant) !== undefined) {
    return parent.error(`error: unknown command '${word}'\n(Did you mean ${meant}?)`, {
      code: 'commander.unknownCommand',
    })
  }
  // A command with these subcommands and without a default refuses the word, and suggests one that is spelled alike.
  const judge = new Command(parent.name()).copyInheritedSettings(parent)
  if (findCommand(parent, 'show') !== undefined)
    judge.showHelpAfterError(`(\`slipway ${parent.name()} show ${word}\` shows one; --help lists commands and options)`)
  for (const one of parent.commands) judge.command(one.name())
  judge.parse([word], { from: 'user' })
  throw new Error(`the command ${parent.name()} ${word} exists`)
}
