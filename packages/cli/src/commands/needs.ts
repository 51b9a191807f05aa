import type { Command, Option } from 'commander'

/**
 * Makes options that mean nothing without one of `others` wrong usage where none of these is given. Without this, a pipeline
 * with `--timeout 30m` and no `--wait` succeeds before the deployment has begun. `others` are options such as `--wait`, or
 * names of arguments.
 */
export function addNeeds(command: Command, options: readonly string[], others: readonly string[]): Command {
  return command.hook('preAction', (used) => {
    const lonely = options.map((flag) => getOption(used, flag)).find((option) => isGiven(used, option))
    if (lonely === undefined || others.some((other) => has(used, other))) return
    used.error(`error: option '${lonely.flags}' needs ${others.map(formatOther).join(' or ')}`)
  })
}

const isOption = (name: string) => name.startsWith('--')
const formatOther = (other: string) => (isOption(other) ? `'${other}'` : `a ${other}`)

function has(command: Command, other: string): boolean {
  if (isOption(other)) return isGiven(command, getOption(command, other))
  const index = command.registeredArguments.findIndex((argument) => argument.name() === other)
  if (index < 0) throw new Error(`${command.name()} has no argument ${other}`)
  return command.args[index] !== undefined
}

function getOption(command: Command, flag: string): Option {
  const option = command.options.find(({ long }) => long === flag)
  if (option === undefined) throw new Error(`${command.name()} has no option ${flag}`)
  return option
}

const isGiven = (command: Command, option: Option) => command.getOptionValueSource(option.attributeName()) === 'cli'
