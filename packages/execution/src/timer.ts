/** Longer ones overflow and would ring at once. */
const MAX_TIMER_MS = 2 ** 31 - 1

/** Calls back after `ms`, however long that is. Returns how to call it off. */
export function after(ms: number, callback: () => void): () => void {
  let timer: NodeJS.Timeout
  const wait = (left: number) => {
    const now = Math.min(left, MAX_TIMER_MS)
    timer = setTimeout(() => (left > now ? wait(left - now) : callback()), Math.max(0, now))
  }
  wait(ms)
  return () => clearTimeout(timer)
}
