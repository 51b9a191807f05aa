import { BrokerUnavailable } from '@slipway/broker'
import {
  isBusy,
  isConnectionError,
  isForeignKeyViolation,
  isUniqueViolation,
  isUnwritable,
  sqlState,
} from '@slipway/database'
import { conflict, Problem, unavailable } from '@slipway/domain'
import { LineFull, SecretError } from '@slipway/runtime'

/** An operator must act, so a caller waits longer than for a restart. */
const RETRY_AFTER_SECONDS = 30

/** The database had no free connection for the call, or no time to answer it, within the limit. */
export class DatabaseBusy extends Problem {
  constructor() {
    // Does not say that nothing was done: the change may be committed, and only reading it back failed.
    super('SERVICE_UNAVAILABLE', 'The service is too busy now: try again in a few seconds')
  }
}

/** Like DatabaseBusy, this does not say that nothing was done. */
export const databaseUnreachable = () =>
  new Problem('DATABASE_CONNECTION_ERROR', 'The database cannot be reached; try again')

/** Turns any error into the refusal for the caller. The message of a defect stays in the log. */
export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error
  const reading = bodyProblem(error)
  if (reading !== null) return reading
  if (error instanceof LineFull)
    return unavailable('Too many such calls of your tenant wait: try again in a few seconds')
  if (error instanceof BrokerUnavailable) return unavailable('The message queue cannot be reached; try again')
  if (error instanceof SecretError) {
    return new Problem('CONFIGURATION_ERROR', 'A stored secret cannot be opened with the configured encryption keys')
  }
  // Comes before isConnectionError, because that is true for a pool without free connections, too.
  if (isBusy(error)) return new DatabaseBusy()
  if (isConnectionError(error)) return databaseUnreachable()
  if (isUniqueViolation(error)) return conflict('A record like this exists already')
  if (isForeignKeyViolation(error)) return conflict('A record that this one refers to has just been deleted')
  if (isUnwritable(error)) {
    const message = 'The database takes no changes now, because it is read-only or full; try again later'
    return new Problem('DATABASE_ERROR', message, { retry_after_secs: RETRY_AFTER_SECONDS })
  }
  if (sqlState(error) !== null) {
    return new Problem('DATABASE_ERROR', 'The database could not do this; see the log of the gateway')
  }
  return new Problem('INTERNAL_ERROR', 'Something failed in the server; its log has the request id')
}

/** Whether an operator must read the log. */
export const isDefect = (problem: Problem) => problem.status === 500

/** Turns the errors of Express's body reader into refusals. */
function bodyProblem(error: unknown): Problem | null {
  switch ((error as { type?: unknown }).type) {
    case 'entity.too.large':
      return new Problem('PAYLOAD_TOO_LARGE', `The body is larger than ${(error as { limit?: unknown }).limit} bytes`)
    case 'encoding.unsupported':
      return new Problem('UNSUPPORTED_MEDIA_TYPE', 'This content encoding is not supported: send the body as it is')
    case 'request.aborted':
    case 'request.size.invalid':
      return new Problem('INVALID_BODY', 'The body ended before it was complete')
    default:
      return typeof (error as { status?: unknown }).status === 'number' &&
        (error as { expose?: unknown }).expose === true
        ? new Problem('INVALID_BODY', 'The body cannot be read')
        : null
  }
}
