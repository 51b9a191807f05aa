import { authRateLimited, Problem } from '@slipway/domain'
import type { Cache } from '../cache.ts'
import { PENDING_TOKEN_SECONDS } from '../credentials/access-token.ts'

/** Codes that may be tried with one pending token. */
const TRIES_OF_PENDING_TOKEN = 5
/** Wrong passwords that a user's sessions may offer within the window. */
const WRONG_PASSWORDS = 10
const PASSWORD_WINDOW_SECONDS = 900

/** How often pending tokens may be tried and passwords be guessed. Every method throws SERVICE_UNAVAILABLE while that cannot be known. */
export interface Attempts {
  /**
   * Takes one of the tries that a pending token has, before its code is looked at: so many at once have no more.
   * @throws Problem INVALID_TOKEN when it has none left
   */
  takeTry(tokenId: string): Promise<void>
  /** Leaves a pending token no further try. */
  burn(tokenId: string): Promise<void>
  /**
   * Checks the password of a user who is logged in. It counts as wrong unless `isRight` resolves to true.
   * @throws Problem AUTH_RATE_LIMIT_EXCEEDED after too many wrong ones
   */
  checkPassword(userId: string, isRight: () => Promise<boolean>): Promise<boolean>
}

export function createAttempts(cache: Cache, namespace: string): Attempts {
  const pendingKey = (tokenId: string) => `${namespace}:pending-2fa:${tokenId}`
  const passwordKey = (userId: string) => `${namespace}:wrong-passwords:${userId}`

  /** Counts up; the time to live is set with the first, in the same transaction, so that no count stays for ever. */
  const count = (key: string, seconds: number) =>
    cache.run(async (redis) => {
      const results = await redis.multi().set(key, 0, 'EX', seconds, 'NX').incr(key).exec()
      const [error, value] = results?.[1] ?? [new Error('the transaction was discarded'), null]
      if (error) throw error
      return Number(value)
    })

  return {
    async takeTry(tokenId) {
      if ((await count(pendingKey(tokenId), PENDING_TOKEN_SECONDS + 60)) > TRIES_OF_PENDING_TOKEN) {
        throw new Problem('INVALID_TOKEN', 'This pending token is spent: log in again')
      }
    },
    async burn(tokenId) {
      await cache.run((redis) =>
        redis.set(pendingKey(tokenId), TRIES_OF_PENDING_TOKEN, 'EX', PENDING_TOKEN_SECONDS + 60),
      )
    },
    async checkPassword(userId, isRight) {
      const key = passwordKey(userId)
      if ((await count(key, PASSWORD_WINDOW_SECONDS)) > WRONG_PASSWORDS) {
        const left = await cache.run((redis) => redis.ttl(key))
        throw authRateLimited(Math.max(1, left), 'Too many wrong passwords were given by sessions of this user')
      }
      const right = await isRight().catch(async (error) => {
        // The check failed, so the password was not judged.
        await cache.run((redis) => redis.decr(key)).catch(() => {})
        throw error
      })
      // The caller goes on even if the count stays: it expires by itself.
      if (right) await cache.run((redis) => redis.del(key)).catch(() => {})
      return right
    },
  }
}
