import type { Command } from 'commander'

/** The verb that a noun alone stands for. */
export const LIST_VERB = 'list'

export const getNames = (command: Command) => [command.name(), ...command.aliases()]

export const findCommand = (parent: Command, word: string): Command | undefined =>
  parent.commands.find((one) => getNames(one).includes(word))

/** The words that call a command, without the program. */
export function getPath(command: Command): string[] {
  return command.parent === null ? [] : [...getPath(command.parent), command.name()]
}

/** Lists the commands whose help has this word. */
export function searchHelp(program: Command, word: string): string[] {
  const isMeant = (command: Command) => {
    const texts = [
      ...getNames(command),
      command.description(),
      ...command.options.flatMap(({ flags, description }) => [flags, description]),
    ]
    return texts.some((text) => text.toLowerCase().includes(word.toLowerCase()))
  }
  return program.commands.flatMap((child) => [
    ...(child.commands.length === 0 && isMeant(child) ? [getPath(child).join(' ')] : []),
    ...searchHelp(child, word),
  ])
}
