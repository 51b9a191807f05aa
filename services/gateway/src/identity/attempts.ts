import { authRateLimited, Problem } from '@slipway/domain'
import { pendingTokenKey, wrongPasswordsKey } from '@slipway/runtime/redis'
import type { Cache } from '../cache.ts'
import { PENDING_TOKEN_SECONDS } from '../credentials/access-token.ts'

const ATTEMPTS_PER_PENDING_TOKEN = 5
/** Wrong passwords that the sessions of a user may send within the window. */
const WRONG_PASSWORDS = 10
const PASSWORD_WINDOW_SECONDS = 900

/** Counts attempts in Redis. Every method throws SERVICE_UNAVAILABLE without Redis. */
export interface Attempts {
  /**
   * Takes one attempt of a pending token. Call this before the code is checked, so parallel calls get no extra attempts.
   * @throws Problem INVALID_TOKEN if none is left
   */
  takeAttempt(tokenId: string): Promise<void>
  /** Takes all attempts of a pending token. */
  exhaust(tokenId: string): Promise<void>
  /**
   * Counts a wrong password of a user who is logged in, unless `isRight` resolves to true.
   * @throws Problem AUTH_RATE_LIMIT_EXCEEDED after too many wrong passwords
   */
  checkPassword(userId: string, isRight: () => Promise<boolean>): Promise<boolean>
}

export function createAttempts(cache: Cache, namespace: string): Attempts {
  /** Counts up. One transaction sets counter and expiry, so no counter stays for ever. */
  const count = (key: string, seconds: number) =>
    cache.run(async (redis) => {
      const results = await redis.multi().set(key, 0, 'EX', seconds, 'NX').incr(key).exec()
      const [error, value] = results?.[1] ?? [new Error('the transaction was discarded'), null]
      if (error) throw error
      return Number(value)
    })

  return {
    async takeAttempt(tokenId) {
      if ((await count(pendingTokenKey(namespace, tokenId), PENDING_TOKEN_SECONDS + 60)) > ATTEMPTS_PER_PENDING_TOKEN) {
        throw new Problem('INVALID_TOKEN', 'This pending token has no attempts left: log in again')
      }
    },
    async exhaust(tokenId) {
      await cache.run((redis) =>
        redis.set(pendingTokenKey(namespace, tokenId), ATTEMPTS_PER_PENDING_TOKEN, 'EX', PENDING_TOKEN_SECONDS + 60),
      )
    },
    async checkPassword(userId, isRight) {
      const key = wrongPasswordsKey(namespace, userId)
      if ((await count(key, PASSWORD_WINDOW_SECONDS)) > WRONG_PASSWORDS) {
        const left = await cache.run((redis) => redis.ttl(key))
        throw authRateLimited(Math.max(1, left), 'Too many wrong passwords in the sessions of this user')
      }
      const right = await isRight().catch(async (error) => {
        // The check itself failed, so the attempt does not count.
        await cache.run((redis) => redis.decr(key)).catch(() => {})
        throw error
      })
      // If this fails, the counter expires by itself.
      if (right) await cache.run((redis) => redis.del(key)).catch(() => {})
      return right
    },
  }
}
