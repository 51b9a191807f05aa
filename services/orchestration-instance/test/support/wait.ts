import { setTimeout as delay } from 'node:timers/promises'

/** Asks until the answer is neither false, null nor undefined, and returns it. Throws with what was waited for. */
export async function eventually<T>(
  what: string,
  ask: () => T | Promise<T>,
  limitMs = 60_000,
): Promise<Exclude<T, false | null | undefined>> {
  for (const until = Date.now() + limitMs; Date.now() < until; await delay(20)) {
    const answer = await ask()
    if (answer !== false && answer !== null && answer !== undefined) {
      return answer as Exclude<T, false | null | undefined>
    }
  }
  throw new Error(`This did not happen within ${limitMs / 1_000} s: ${what}`)
}
