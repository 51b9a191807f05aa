import { ApiError, ConnectionError } from '@slipway/client'

/** What a pipeline learns from a command; documented in docs/cli.md. */
export const EXIT = {
  success: 0,
  failed: 1,
  usage: 2,
  refused: 3,
  cancelled: 4,
  timeout: 5,
  unreachable: 6,
  /** 128 + SIGINT, as shells have it: watching was stopped, the deployment was not. */
  interrupted: 130,
} as const

/** The command line was wrong in a way that only looking further could show. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** It was understood and cannot be done: something does not exist, a file is not valid. */
export class Refused extends Error {
  override readonly name: string = 'Refused'
}

/** Somebody pressed Ctrl-C, or the pipeline ends its job. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
}

/** `--timeout` is over. */
export class WaitedTooLong extends Error {
  override readonly name = 'WaitedTooLong'
}

export function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError) return EXIT.usage
  if (error instanceof Refused) return EXIT.refused
  if (error instanceof Interrupted) return EXIT.interrupted
  if (error instanceof WaitedTooLong) return EXIT.timeout
  if (error instanceof ConnectionError) return EXIT.unreachable
  if (error instanceof ApiError) {
    if (error.status >= 502 && error.status <= 504) return EXIT.unreachable
    return error.status < 500 ? EXIT.refused : EXIT.failed
  }
  return EXIT.failed
}

/** The exit code that a deployment's final state stands for. */
export function exitCodeOfState(state: string): number {
  if (state === 'success') return EXIT.success
  return state === 'cancelled' ? EXIT.cancelled : EXIT.failed
}
