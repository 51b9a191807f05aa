import { Command } from 'commander'
import { EXIT_CODES } from '../exit-code.ts'
import type { Io, OutputStream } from '../io.ts'

/** The command `slipway` itself. Its subcommands find through it what they use of the process. */
export class RootCommand extends Command {
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
