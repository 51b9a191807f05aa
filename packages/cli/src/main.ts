import { ApiError, ConnectionError, FrozenError, NotFoundError, ValidationError } from '@slipway/client'
import { CommanderError } from 'commander'
import { buildProgram } from './commands/program.ts'
import { EXIT_CODES, getExitCode } from './exit-code.ts'
import { sanitize } from './terminal/colour.ts'

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

/** Returns the message of an error and, if the server names them, every wrong field. */
function formatError(error: unknown): string {
  if (error instanceof ConnectionError && error.untrusted) {
    return `${error.message}\n  give the certificate of its authority: --ca-file FILE`
  }
  if (!(error instanceof ApiError)) return error instanceof Error ? error.message : String(error)
  const id = error.requestId ? ` [request ${error.requestId}]` : ''
  return [`${error.message} (${error.code})${id}`, ...listReasons(error)].map(sanitize).join('\n')
}

function formatIds(ids: readonly string[]): string {
  const more = ids.length > 3 ? ` and ${ids.length - 3} more` : ''
  return ids.slice(0, 3).join(', ') + more
}

function listReasons(error: ApiError): string[] {
  if (error instanceof ValidationError) {
    const problems = error.problems.map(({ path, message }) => `  ${path} ${message}`)
    return [...problems, ...error.warnings.map((warning) => `  ${warning}`)]
  }
  if (error instanceof NotFoundError) return error.missing.map(({ path, id }) => `  ${path} ${id}`)
  if (error instanceof FrozenError) {
    const how = error.canOverride ? ['  to deploy in spite of the freeze: --override-freeze REASON'] : []
    const lines = error.freezes.map(({ name, ends_at, target_ids }) => {
      const through = target_ids === undefined ? '' : `, by targets ${formatIds(target_ids)}`
      return `  ${name}, until ${ends_at}${through}`
    })
    return [...lines, ...how]
  }
  return []
}
