import { createHash } from 'node:crypto'
import { unavailable } from '@slipway/domain'
import bcrypt from 'bcrypt'

const COST = 12
/** A hash of no known password: 22 characters of salt, 31 of hash. */
const dummyHashOf = (cost: number) => `$2b$${String(cost).padStart(2, '0')}$${'.'.repeat(22 + 31)}`
/** bcrypt ignores further bytes. */
const MAX_BCRYPT_BYTES = 72
/** One hash takes a core for 200 ms. The rest of the service needs cores, too. */
const AT_ONCE = 2
const MAX_WAITING = 100
const MAX_WAIT_MS = 5_000

export const MIN_PASSWORD_LENGTH = 12
export const MAX_PASSWORD_LENGTH = 128

export interface PasswordHasher {
  hash(password: string): Promise<string>
  /** With the hash null, this does the same work and returns false: the time must not reveal whether a user exists. */
  matches(password: string, hash: string | null): Promise<boolean>
}

/**
 * Every method throws SERVICE_UNAVAILABLE if too many passwords wait, or one waits for too long.
 * @param cost the logarithm of the rounds of bcrypt; tests use a small one
 */
export function createPasswordHasher(cost = COST): PasswordHasher {
  const dummyHash = dummyHashOf(cost)
  const queue = new BoundedQueue(AT_ONCE, MAX_WAITING, MAX_WAIT_MS)
  return {
    hash: (password) => queue.run(() => bcrypt.hash(bcryptInput(password), cost)),
    async matches(password, hash) {
      const equal = await queue.run(() => bcrypt.compare(bcryptInput(password), hash ?? dummyHash))
      return equal && hash !== null
    },
  }
}

/** Hashes a long password first, so bcrypt does not ignore its end. */
function bcryptInput(password: string): string {
  if (Buffer.byteLength(password) <= MAX_BCRYPT_BYTES) return password
  return createHash('sha384').update(password, 'utf8').digest('base64')
}

const tooMany = () => unavailable('Too many passwords are being checked; nothing was done, try again in a few seconds')

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
    if (this.#running >= this.#atOnce) await this.#waitForTurn()
    else this.#running += 1
    try {
      return await work()
    } finally {
      const [next] = this.#waiting
      if (next === undefined) this.#running -= 1
      else next()
    }
  }

  /** Resolves when a running call ends. That call does not lower the count, so its place cannot be taken meanwhile. */
  #waitForTurn(): Promise<void> {
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
