import { BrokerUnavailable } from '@slipway/broker'
import { isBusy, isConnectionError, isForeignKeyViolation, isUniqueViolation, sqlState } from '@slipway/database'
import { conflict, Problem, unavailable } from '@slipway/domain'
import { SecretError } from '@slipway/runtime'

export const MAX_BODY_BYTES = 1024 * 1024

/** The database had no time for the call, which has waited for it as long as it may. */
export class DatabaseBusy extends Problem {
  constructor() {
    // Not that nothing was done: it may be the look at what was done that found no time.
    super('SERVICE_UNAVAILABLE', 'The service is too busy now: try again in a few seconds')
  }
}

/** The refusal that a caller sees of whatever was thrown. Defects keep their message to themselves. */
export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error
  const reading = bodyProblem(error)
  if (reading !== null) return reading
  if (error instanceof BrokerUnavailable) return unavailable('The message queue cannot be reached; try again')
  if (error instanceof SecretError) {
    return new Problem('CONFIGURATION_ERROR', 'A stored secret cannot be opened with the configured encryption keys')
  }
  // Before the other: a pool whose connections are all in use waits for one as if the server were away.
  if (isBusy(error)) return new DatabaseBusy()
  if (isConnectionError(error))
    return new Problem('DATABASE_CONNECTION_ERROR', 'The database cannot be reached; try again')
  if (isUniqueViolation(error)) return conflict('A record like this exists already')
  if (isForeignKeyViolation(error)) return conflict('A record that this one refers to has just been deleted')
  if (sqlState(error) !== null) {
    return new Problem('DATABASE_ERROR', 'The database could not do this; see the log of the gateway')
  }
  return new Problem('INTERNAL_ERROR', 'Something failed in the server; its log has the request id')
}

/** Whether the server, not the caller, is at fault, and a person should look at the log. */
export const isDefect = (problem: Problem) => problem.status === 500

/** What express says when it cannot read a body. */
function bodyProblem(error: unknown): Problem | null {
  switch ((error as { type?: unknown }).type) {
    case 'entity.too.large':
      return new Problem('PAYLOAD_TOO_LARGE', `The body is larger than ${MAX_BODY_BYTES} bytes`)
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
