import { Command, type ErrorOptions } from 'commander'
import { EXIT_CODES } from '../exit-code.ts'
import type { Io, OutputStream } from '../io.ts'
import { findCommand, LIST_VERB } from './command-tree.ts'
import { getOptions } from './completion-words.ts'

/** A command whose errors say what was meant, where Commander does not: it compares spellings only. */
class HelpfulCommand extends Command {
  override createCommand(name?: string): Command {
    return new HelpfulCommand(name)
  }

  override error(message: string, options?: ErrorOptions): never {
    const hint = this.#suggest(options?.code)
    return super.error(hint === undefined ? message : `${message.split('\n', 1)[0]}\n(Did you mean ${hint}?)`, options)
  }

  #suggest(code: string | undefined): string | undefined {
    if (code === 'commander.excessArguments' && this.name() === LIST_VERB)
      return this.parent && findCommand(this.parent, 'show')
        ? `slipway ${this.parent.name()} show ${this.args[0]}`
        : undefined
    if (code !== 'commander.unknownOption') return undefined
    const flag = this.args.find((word) => word.startsWith('--'))?.split('=', 1)[0]
    if (flag === undefined) return undefined
    const argument = this.registeredArguments.find((one) => flag === `--${one.name()}`)
    if (argument !== undefined) return `<${argument.name()}>, without --${argument.name()}`
    const isMeant = (long: string) => long.startsWith(flag) || (flag.startsWith(long) && long.length > MIN_FLAG)
    const found = getOptions(this).flatMap(({ long }) =>
      long && flag.length > MIN_FLAG && isMeant(long) ? [long] : [],
    )
    return found.length > 0 ? found.join(' or ') : undefined
  }
}

/** With the two hyphens. A shorter beginning fits too much. */
const MIN_FLAG = 4

/** The command `slipway` itself. Its subcommands find through it what they use of the process. */
export class RootCommand extends HelpfulCommand {
  readonly io: Io
  /** Set by the action of a subcommand. */
  exitCode: number = EXIT_CODES.success

  constructor(io: Io) {
    super('slipway')
    this.io = io
    this.configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      getOutHelpWidth: () => getColumns(io.stdout),
      getErrHelpWidth: () => getColumns(io.stderr),
    })
  }
}

const getColumns = ({ isTTY, columns }: OutputStream) => (isTTY && columns) || 80

export function getRoot(command: Command): RootCommand {
  let root = command
  while (root.parent !== null) root = root.parent
  if (root instanceof RootCommand) return root
  throw new Error(`the command ${root.name()} does not belong to slipway`)
}
