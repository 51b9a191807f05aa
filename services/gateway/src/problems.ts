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
import { LineFull, NoTurn, SecretError } from '@slipway/runtime'

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
  if (error instanceof LineFull)
    return unavailable('Too many such calls of your tenant wait: try again in a few seconds')
  if (error instanceof NoTurn) return unavailable('Other such calls took too long: try again in a few seconds')
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
