/**
 * The answer, or undefined when it takes longer than this. An answer that has arrived in time counts, even if this process was
 * too busy to read it.
 */
export async function answerWithin<T>(milliseconds: number, answer: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    // Timers run before sockets are read, immediates after.
    timer = setTimeout(() => setImmediate(() => resolve(undefined)), milliseconds)
  })
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}
