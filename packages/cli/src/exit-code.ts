import { ApiError, ConnectionError, NotSlipwayError } from '@slipway/client'

/** The exit codes of all commands. docs/cli.md documents them. */
export const EXIT_CODES = {
  success: 0,
  failed: 1,
  usage: 2,
  refused: 3,
  cancelled: 4,
  timeout: 5,
  unreachable: 6,
  /** Something keeps a deployment from starting now. */
  blocked: 7,
  /** 128 + SIGINT, as in shells. The command line stopped watching. The deployment goes on. */
  interrupted: 130,
} as const

/** The command line is wrong in a way that the option parser cannot detect. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The command is valid but cannot be carried out: a record does not exist, or a file is not valid. */
export class RefusedError extends Error {
  override readonly name: string = 'Refused'
}

/** A refusal of the server in the words of a command. Its cause decides the exit code. */
export class ExplainedError extends Error {
  override readonly name = 'Explained'
}

/** The process received SIGINT, SIGTERM or SIGHUP. */
export class InterruptedError extends Error {
  override readonly name = 'Interrupted'
}

/** The time of `--timeout` is over. */
export class WaitTimeoutError extends Error {
  override readonly name = 'WaitedTooLong'
}

/** The credential of this process cannot be renewed. A deployment that it started goes on. */
export class AccessEndedError extends Error {
  override readonly name = 'AccessEnded'
}

/** Another server than Slipway does not answer. */
export class UnreachableError extends Error {
  override readonly name = 'Unreachable'
}

export function getExitCode(error: unknown): number {
  if (error instanceof ExplainedError) return getExitCode(error.cause)
  if (error instanceof UsageError) return EXIT_CODES.usage
  if (error instanceof RefusedError) return EXIT_CODES.refused
  if (error instanceof InterruptedError) return EXIT_CODES.interrupted
  if (error instanceof WaitTimeoutError || error instanceof AccessEndedError) return EXIT_CODES.timeout
  if (error instanceof ConnectionError || error instanceof NotSlipwayError || error instanceof UnreachableError)
    return EXIT_CODES.unreachable
  if (error instanceof ApiError) {
    if (error.status >= 502 && error.status <= 504) return EXIT_CODES.unreachable
    return error.status < 500 ? EXIT_CODES.refused : EXIT_CODES.failed
  }
  return EXIT_CODES.failed
}

/** Returns the exit code for the final state of a deployment. */
export function getExitCodeOfState(state: string): number {
  if (state === 'success') return EXIT_CODES.success
  return state === 'cancelled' ? EXIT_CODES.cancelled : EXIT_CODES.failed
}
