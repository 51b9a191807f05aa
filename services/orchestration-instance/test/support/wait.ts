import { setTimeout as delay } from 'node:timers/promises'

/** Calls `ask` until its result is not false, null or undefined, and returns it. A timeout throws with `what`. */
export async function eventually<T>(
  what: string,
  ask: () => T | Promise<T>,
  limitMs = 120_000,
): Promise<Exclude<T, false | null | undefined>> {
  for (const until = Date.now() + limitMs; Date.now() < until; await delay(20)) {
    const answer = await ask()
    if (answer !== false && answer !== null && answer !== undefined) {
      return answer as Exclude<T, false | null | undefined>
    }
  }
  throw new Error(`This did not happen within ${limitMs / 1_000} s: ${what}`)
}
