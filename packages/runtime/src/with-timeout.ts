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
