/** Exponential backoff with full jitter: a random wait in ms below min(cap, base × 2^(attempt-1)). `attempt` starts at 1. */
export function fullJitter(attempt: number, limits: { baseMs: number; capMs: number }): number {
  const ceiling = Math.min(limits.capMs, limits.baseMs * 2 ** Math.min(attempt - 1, 52))
  return Math.floor(Math.random() * ceiling)
}

/** Waits `ms` milliseconds. Resolves earlier if the signal aborts, so check the signal afterwards. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const done = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal?.addEventListener('abort', done, { once: true })
  })
}

export const TIMED_OUT = Symbol('timed out')

/**
 * Resolves like the promise, or with TIMED_OUT if the promise takes longer. Then the promise continues and its result is
 * ignored. A result that arrives in time counts, even if this process was too busy to read it.
 */
export async function withTimeout<T>(milliseconds: number, promise: Promise<T>): Promise<T | typeof TIMED_OUT> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<typeof TIMED_OUT>((resolve) => {
    // Timers run before sockets are read, immediates after.
    timer = setTimeout(() => setImmediate(() => resolve(TIMED_OUT)), milliseconds)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

/** A longer timeout overflows, and Node would fire it at once. */
const MAX_TIMER_MS = 2 ** 31 - 1

/** Like setTimeout, without a limit of `ms`. Returns a function that clears the timer. */
export function after(ms: number, callback: () => void): () => void {
  let timer: NodeJS.Timeout
  const wait = (left: number) => {
    const now = Math.min(left, MAX_TIMER_MS)
    timer = setTimeout(() => (left > now ? wait(left - now) : callback()), Math.max(0, now))
  }
  wait(ms)
  return () => clearTimeout(timer)
}
