import { ApiError, ConnectionError } from '@slipway/client'
import { CommanderError } from 'commander'
import { CLI_VERSION } from './cli-version.ts'
import { buildProgram } from './commands/program.ts'
import { describeProxy } from './configuration/network.ts'
import { EXIT_CODES, getExitCode } from './exit-code.ts'
import type { Io } from './io.ts'
import { formatRefusal } from './terminal/refusal.ts'

/** Runs one command line, without the name of the program. Returns the exit code. */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  if (argv.length > 0 && argv.every((argument) => argument === '-V' || argument === '--version')) {
    io.stdout.write(`${CLI_VERSION}\n`)
    return EXIT_CODES.success
  }
  const program = buildProgram(io)
  try {
    await program.parseAsync(argv.length === 0 ? ['help'] : argv, { from: 'user' })
    return program.exitCode
  } catch (error) {
    // Commander has already printed the error or the help.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT_CODES.success : EXIT_CODES.usage
    io.stderr.write(`slipway: ${formatError(error, io)}\n`)
    return getExitCode(error)
  }
}

function formatError(error: unknown, io: Io): string {
  if (error instanceof ConnectionError) {
    const proxy = describeProxy(io.env, error.url)
    return [
      error.message,
      ...(error.untrusted ? ['  give the certificate of its authority: --ca-file FILE'] : []),
      ...(proxy === null ? [] : [`  ${proxy}`]),
    ].join('\n')
  }
  if (error instanceof ApiError) return formatRefusal(error)
  return error instanceof Error ? error.message : String(error)
}
