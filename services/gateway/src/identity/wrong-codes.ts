import type { Queryable } from '@slipway/database'
import { authRateLimited } from '@slipway/domain'
import { deleteWrongCodes, findLock, findWrongCodes, storeWrongCodes } from './second-factor.sql.ts'

/** This many wrong codes within the window lock the codes. */
const LOCKING_CODE = 5
const WINDOW_SECONDS = 900
const FIRST_LOCK_SECONDS = 30
const MAX_LOCK_SECONDS = 900

const REASON = 'Too many wrong two-factor codes were given for this user'

/** The wrong two-factor codes of one user, in all sessions and logins. */
interface WrongCodes {
  /** The wrong codes in the window, oldest first. */
  failed_at: Date[]
  /** Consecutive locks. */
  locks: number
  locked_until: Date | null
}

/** @throws Problem AUTH_RATE_LIMIT_EXCEEDED while the codes of the user are locked */
export async function requireNotLocked(db: Queryable, userId: string): Promise<void> {
  const lock = await findLock.first(db, { user_id: userId })
  if (lock !== null) throw codesAreLocked(lock.seconds)
}

export const codesAreLocked = (seconds: number) => authRateLimited(seconds, REASON)

/** Counts a wrong code. The caller must hold the row lock of the user. */
export async function countWrongCode(tx: Queryable, userId: string): Promise<WrongCode> {
  const before = await findWrongCodes.first(tx, { user_id: userId })
  if (before === null) return { lockSeconds: null }
  const { lockSeconds, ...after } = addWrongCode(before, before.now)
  await storeWrongCodes.run(tx, { user_id: userId, ...after })
  return { lockSeconds }
}

interface WrongCode {
  /** How long the code locks the codes of the user; null if it does not. */
  lockSeconds: number | null
}

export async function forgetWrongCodes(tx: Queryable, userId: string): Promise<void> {
  await deleteWrongCodes.run(tx, { user_id: userId })
}

/**
 * The fifth wrong code within the window locks. The next wrong code locks again, for twice as long, until a window passes without
 * a wrong code.
 */
export function addWrongCode({ failed_at, locks, locked_until }: WrongCodes, now: Date): WrongCodes & WrongCode {
  const windowStart = now.getTime() - WINDOW_SECONDS * 1_000
  const failedAt = [...failed_at.filter((at) => at.getTime() > windowStart), now]
  const wasLocked = locked_until !== null && locked_until.getTime() > windowStart
  if (!wasLocked && failedAt.length < LOCKING_CODE) {
    return { failed_at: failedAt, locks: 0, locked_until: null, lockSeconds: null }
  }
  const lockNumber = wasLocked ? locks + 1 : 1
  const lockSeconds = Math.min(FIRST_LOCK_SECONDS * 2 ** (lockNumber - 1), MAX_LOCK_SECONDS)
  // The lock replaces the codes that led to it.
  return { failed_at: [], locks: lockNumber, locked_until: new Date(now.getTime() + lockSeconds * 1_000), lockSeconds }
}
