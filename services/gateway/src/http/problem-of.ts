import { BrokerUnavailable } from '@slipway/broker'
import { isConnectionError, Prisma } from '@slipway/database'
import { conflict, Problem, unavailable } from '@slipway/domain'
import { SecretError } from '@slipway/runtime'
import { MAX_BODY_BYTES } from './body.ts'

const UNIQUE_VIOLATION = '23505'
const FOREIGN_KEY_VIOLATION = '23503'
const SQLSTATE = /^[0-9A-Z]{5}$/

/** The refusal that a caller sees of whatever was thrown. Defects keep their message to themselves. */
export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error
  const reading = bodyProblem(error)
  if (reading !== null) return reading
  if (error instanceof BrokerUnavailable) return unavailable('The message queue cannot be reached; try again')
  if (error instanceof SecretError) {
    return new Problem('CONFIGURATION_ERROR', 'A stored secret cannot be opened with the configured encryption keys')
  }
  if (isConnectionError(error))
    return new Problem('DATABASE_CONNECTION_ERROR', 'The database cannot be reached; try again')
  const state = sqlState(error)
  if (state === UNIQUE_VIOLATION) return conflict('A record like this exists already')
  if (state === FOREIGN_KEY_VIOLATION) return conflict('A record that this one refers to has just been deleted')
  if (state !== null) return new Problem('DATABASE_ERROR', 'The database could not do this; see the log of the gateway')
  return new Problem('INTERNAL_ERROR', 'Something failed in the server; its log has the request id')
}

/** Whether the server, not the caller, is at fault, and a person should look at the log. */
export const isDefect = (problem: Problem) => problem.status === 500

/** Whether a row with the same unique values exists, whichever client reported it. */
export const isUniqueViolation = (error: unknown) => sqlState(error) === UNIQUE_VIOLATION

/** The SQLSTATE of a database error, '' where there is none to tell, null for any other error. */
function sqlState(error: unknown): string | null {
  if (error instanceof Prisma.PrismaClientKnownRequestError) {
    const cause = (error.meta?.['driverAdapterError'] as { cause?: { originalCode?: unknown } } | undefined)?.cause
    if (typeof cause?.originalCode === 'string') return cause.originalCode
    return error.code === 'P2002' ? UNIQUE_VIOLATION : error.code === 'P2003' ? FOREIGN_KEY_VIOLATION : ''
  }
  if (error instanceof Prisma.PrismaClientUnknownRequestError) return ''
  const { code, severity } = error as { code?: unknown; severity?: unknown }
  return typeof code === 'string' && severity !== undefined && SQLSTATE.test(code) ? code : null
}

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
