import { authRateLimited, Problem } from '@slipway/domain'
import type { Cache } from '../cache.ts'
import { PENDING_TOKEN_SECONDS } from './access-token.ts'

/** Codes that may be tried with one pending token. */
const TRIES_OF_PENDING_TOKEN = 5
/** Wrong proofs (codes, passwords) that a user's sessions may offer within the window. */
const WRONG_PROOFS = 10
const PROOF_WINDOW_SECONDS = 900

/** How often secrets may be guessed. Every method throws SERVICE_UNAVAILABLE while that cannot be known. */
export interface Attempts {
  /**
   * Takes one of the tries that a pending token has, before its code is looked at: so many at once have no more.
   * @throws Problem INVALID_TOKEN when it has none left
   */
  takeTry(tokenId: string): Promise<void>
  /** Leaves a pending token no further try. */
  burn(tokenId: string): Promise<void>
  /**
   * Does what asks a user who is logged in for a code or the password. Counts as wrong unless `proof` says true.
   * @throws Problem AUTH_RATE_LIMIT_EXCEEDED after too many wrong ones
   */
  proving(userId: string, proof: () => Promise<boolean>): Promise<boolean>
}

export function createAttempts(cache: Cache, namespace: string): Attempts {
  const pendingKey = (tokenId: string) => `${namespace}:pending-2fa:${tokenId}`
  const proofKey = (userId: string) => `${namespace}:wrong-proofs:${userId}`

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
    async proving(userId, proof) {
      const key = proofKey(userId)
      if ((await count(key, PROOF_WINDOW_SECONDS)) > WRONG_PROOFS) {
        const left = await cache.run((redis) => redis.ttl(key))
        throw authRateLimited(Math.max(1, left), 'too many wrong codes or passwords')
      }
      const proved = await proof().catch(async (error) => {
        // Nothing was said about the proof itself.
        await cache.run((redis) => redis.decr(key)).catch(() => {})
        throw error
      })
      // What was proved has taken effect by now; a count that stays is over by itself.
      if (proved) await cache.run((redis) => redis.del(key)).catch(() => {})
      return proved
    },
  }
}
