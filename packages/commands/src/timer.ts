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
