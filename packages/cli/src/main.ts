import { ApiError, FrozenError, NotFoundError, ValidationError } from '@slipway/client'
import { CommanderError } from 'commander'
import { buildProgram } from './commands/program.ts'
import { EXIT, exitCodeOf } from './exit-code.ts'
import { harmless } from './terminal/colour.ts'

// Whoever reads the output may have seen enough (`slipway logs … | head`).
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(EXIT.success)
  throw error
})

try {
  await buildProgram().parseAsync()
} catch (error) {
  if (error instanceof CommanderError) {
    // It has said what is wrong, or shown the help that was asked for.
    process.exitCode = error.exitCode === 0 ? EXIT.success : EXIT.usage
  } else {
    console.error(`slipway: ${explain(error)}`)
    process.exitCode = exitCodeOf(error)
  }
}

/** What went wrong and, where the server says it, every field that is wrong. */
function explain(error: unknown): string {
  if (!(error instanceof ApiError)) return error instanceof Error ? error.message : String(error)
  const id = error.requestId ? ` [request ${error.requestId}]` : ''
  return [`${error.message} (${error.code})${id}`, ...reasons(error)].map(harmless).join('\n')
}

function firstOf(ids: readonly string[]): string {
  const more = ids.length > 3 ? ` and ${ids.length - 3} more` : ''
  return ids.slice(0, 3).join(', ') + more
}

function reasons(error: ApiError): string[] {
  if (error instanceof ValidationError) {
    const problems = error.problems.map(({ path, message }) => `  ${path} ${message}`)
    return [...problems, ...error.warnings.map((warning) => `  ${warning}`)]
  }
  if (error instanceof NotFoundError) return error.missing.map(({ path, id }) => `  ${path} ${id}`)
  if (error instanceof FrozenError) {
    const how = error.canOverride ? ['  to deploy all the same: --override-freeze REASON'] : []
    const lines = error.freezes.map(({ name, ends_at, target_ids }) => {
      const through = target_ids === undefined ? '' : `, by targets ${firstOf(target_ids)}`
      return `  ${name}, until ${ends_at}${through}`
    })
    return [...lines, ...how]
  }
  return []
}
