import type { Prisma } from './generated/client.ts'

const SERIALIZATION_FAILURE = '40001'
const DEADLOCK = '40P01'
const UNIQUE_VIOLATION = '23505'
const FOREIGN_KEY_VIOLATION = '23503'
const INSUFFICIENT_PRIVILEGE = '42501'
const LOCK_NOT_AVAILABLE = '55P03'
const QUERY_CANCELED = '57014'
const SQLSTATE = /^[0-9A-Z]{5}$/

/** Prisma's codes for errors of Postgres, for the cases in which Prisma hides the original code. */
const STATE_OF_PRISMA: Record<string, string> = {
  P2002: UNIQUE_VIOLATION,
  P2003: FOREIGN_KEY_VIOLATION,
  // Prisma found no record to connect to. Postgres would report a missing foreign key.
  P2025: FOREIGN_KEY_VIOLATION,
  P2034: SERIALIZATION_FAILURE,
}

/** The SQLSTATE of a database error of any client. '' if the error has none; null if it is not a database error. */
export function sqlState(error: unknown): string | null {
  // Checks names and fields, not classes: Prisma may not be loaded, and Node's own errors have other classes in a test sandbox.
  const { name } = (error ?? {}) as { name?: unknown }
  if (name === 'PrismaClientKnownRequestError') {
    const { code, meta } = error as Prisma.PrismaClientKnownRequestError
    const cause = (meta?.['driverAdapterError'] as { cause?: { originalCode?: unknown } } | undefined)?.cause
    return typeof cause?.originalCode === 'string' ? cause.originalCode : (STATE_OF_PRISMA[code] ?? '')
  }
  if (name === 'PrismaClientUnknownRequestError') return ''
  const { code, severity } = (error ?? {}) as { code?: unknown; severity?: unknown }
  return typeof code === 'string' && severity !== undefined && SQLSTATE.test(code) ? code : null
}

/** Whether a row with the same unique values exists. */
export const isUniqueViolation = (error: unknown) => sqlState(error) === UNIQUE_VIOLATION

/** Whether a referenced row is missing, or a row is still referenced. */
export const isForeignKeyViolation = (error: unknown) => sqlState(error) === FOREIGN_KEY_VIOLATION

/** Whether a policy of the table forbids the row. */
export const isRowForbidden = (error: unknown) => sqlState(error) === INSUFFICIENT_PRIVILEGE

/** Whether another transaction kept a lock for longer than the limit. */
export const isLocked = (error: unknown) => sqlState(error) === LOCK_NOT_AVAILABLE

/** Thrown in a transaction that finds what it read changed by another one. It is run again. */
export class Collision extends Error {
  override name = 'Collision'
}

/** Whether transactions collided, so that the same transaction may succeed at once. */
export function isCollision(error: unknown): boolean {
  if (error instanceof Collision) return true
  const state = sqlState(error)
  return state === SERIALIZATION_FAILURE || state === DEADLOCK
}

/** pg's message if all connections of a pool stay in use. */
const POOL_TIMEOUT = 'timeout exceeded when trying to connect'
/** Prisma's messages if a transaction could not begin or end in time. */
const PRISMA_TIMEOUT = /Unable to start a transaction in the given time|expired transaction/

/**
 * Whether the database is overloaded: no connection became free, a lock or a statement took too long, or transactions kept
 * colliding. The statement or its transaction had no effect.
 */
export function isBusy(error: unknown): boolean {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown }
  if (String(message).includes(POOL_TIMEOUT)) return true
  if (code === 'P2028' && PRISMA_TIMEOUT.test(String(message))) return true
  const state = sqlState(error)
  return isLocked(error) || state === QUERY_CANCELED || isCollision(error)
}

/** Whether the server is not reachable or has no free connection. Other errors mean that the statement is wrong. */
export function isConnectionError(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false
  const { code, message } = error as { code?: unknown; message?: unknown }
  if (typeof code === 'string' && /^(P1001|P1008|P1017|P2037)$/.test(code)) return true
  if (/^(08|57P0|53300)/.test(sqlState(error) ?? String(code))) return true
  const text = `${String(code)} ${String(message)}`
  return (
    text.includes(POOL_TIMEOUT) ||
    /ECONNREFUSED|ECONNRESET|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EPIPE|Connection terminated|is not queryable/.test(
      text,
    )
  )
}

/** Whether the server takes no changes now: it is read-only, or it has no disk space or memory left. */
export const isUnwritable = (error: unknown) => /^(25006|53[124]00)$/.test(sqlState(error) ?? '')

/** Whether the same work succeeds when the server can be used again. */
export const isUnavailable = (error: unknown) => isConnectionError(error) || isUnwritable(error)
