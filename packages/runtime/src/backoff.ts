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
