import { createHash } from 'node:crypto'
import { unavailable } from '@slipway/domain'
import bcrypt from 'bcrypt'

const COST = 12
/** A hash of no known password, to compare with where there is no user: 22 characters of salt, 31 of hash. */
const hashOfNobody = (cost: number) => `$2b$${String(cost).padStart(2, '0')}$${'.'.repeat(22 + 31)}`
/** bcrypt looks at no more than this. */
const MAX_BCRYPT_BYTES = 72
/** Hashing takes a core for a fifth of a second: the rest of the service needs one too. */
const AT_ONCE = 2
const MAX_WAITING = 100
/** Nobody waits longer for their turn. */
const MAX_WAIT_MS = 5_000

export const MIN_PASSWORD_LENGTH = 12
export const MAX_PASSWORD_LENGTH = 128

export interface PasswordHasher {
  hash(password: string): Promise<string>
  /** Whether the password is that of the hash. With null it does the same work and says no. */
  matches(password: string, hash: string | null): Promise<boolean>
}

/**
 * Hashes two at a time and refuses (SERVICE_UNAVAILABLE) when too many wait, or one for too long.
 * @param cost the logarithm of bcrypt's rounds; tests use less than the product
 */
export function createPasswordHasher(cost = COST): PasswordHasher {
  const nobody = hashOfNobody(cost)
  const queue = new BoundedQueue(AT_ONCE, MAX_WAITING, MAX_WAIT_MS)
  return {
    hash: (password) => queue.run(() => bcrypt.hash(bcryptInput(password), cost)),
    async matches(password, hash) {
      const equal = await queue.run(() => bcrypt.compare(bcryptInput(password), hash ?? nobody))
      return equal && hash !== null
    },
  }
}

/** A long password counts to its end, not only up to where bcrypt stops reading. */
function bcryptInput(password: string): string {
  if (Buffer.byteLength(password) <= MAX_BCRYPT_BYTES) return password
  return createHash('sha384').update(password, 'utf8').digest('base64')
}

const tooMany = () => unavailable('Too many passwords are looked at now; nothing was done, try again in a few seconds')

export class BoundedQueue {
  readonly #atOnce: number
  readonly #maxWaiting: number
  readonly #maxWaitMs: number
  readonly #waiting = new Set<() => void>()
  #running = 0

  constructor(atOnce: number, maxWaiting: number, maxWaitMs: number) {
    this.#atOnce = atOnce
    this.#maxWaiting = maxWaiting
    this.#maxWaitMs = maxWaitMs
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#atOnce) await this.#turn()
    else this.#running += 1
    try {
      return await work()
    } finally {
      const [next] = this.#waiting
      if (next === undefined) this.#running -= 1
      else next()
    }
  }

  /** Whoever ends hands its place over, so the count stays. */
  #turn(): Promise<void> {
    if (this.#waiting.size >= this.#maxWaiting) throw tooMany()
    return new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(turn)
        reject(tooMany())
      }, this.#maxWaitMs)
      const turn = () => {
        clearTimeout(timer)
        this.#waiting.delete(turn)
        resolve()
      }
      this.#waiting.add(turn)
    })
  }
}
