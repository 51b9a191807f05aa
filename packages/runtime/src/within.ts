export const LATE = Symbol('late')

/**
 * The result of the promise, or LATE if it takes longer. The promise then goes on, and its result is ignored. An answer that
 * has arrived in time counts, even if this process was too busy to read it.
 */
export async function within<T>(milliseconds: number, promise: Promise<T>): Promise<T | typeof LATE> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<typeof LATE>((resolve) => {
    // Timers run before sockets are read, immediates after.
    timer = setTimeout(() => setImmediate(() => resolve(LATE)), milliseconds)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
