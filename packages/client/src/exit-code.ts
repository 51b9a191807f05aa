import { ApiError } from './api-error.ts'

const FAILED = 1
/** Whoever calls the command line with credentials learns that they are the reason. */
const NOT_LET_IN = 3

/** The exit code of a command that ended with this error. */
export function exitCodeOf(error: unknown): number {
  return error instanceof ApiError && error.code === 'INVALID_CREDENTIALS' ? NOT_LET_IN : FAILED
}
