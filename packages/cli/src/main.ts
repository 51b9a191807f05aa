import { ApiError, ConnectionError } from '@slipway/client'
import { CommanderError } from 'commander'
import { buildProgram } from './commands/program.ts'
import { describeProxy } from './configuration/network.ts'
import { EXIT_CODES, getExitCode } from './exit-code.ts'
import { formatRefusal } from './terminal/refusal.ts'

// A reader such as `head` closes the pipe when it has enough lines. This is a success.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(EXIT_CODES.success)
  throw error
})

try {
  await buildProgram().parseAsync()
} catch (error) {
  if (error instanceof CommanderError) {
    // Commander has already printed the error or the help.
    process.exitCode = error.exitCode === 0 ? EXIT_CODES.success : EXIT_CODES.usage
  } else {
    console.error(`slipway: ${formatError(error)}`)
    process.exitCode = getExitCode(error)
  }
}

function formatError(error: unknown): string {
  if (error instanceof ConnectionError) {
    const proxy = describeProxy(error.url)
    return [
      error.message,
      ...(error.untrusted ? ['  give the certificate of its authority: --ca-file FILE'] : []),
      ...(proxy === null ? [] : [`  ${proxy}`]),
    ].join('\n')
  }
  if (error instanceof ApiError) return formatRefusal(error)
  return error instanceof Error ? error.message : String(error)
}
