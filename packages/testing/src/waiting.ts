import { setTimeout as sleep } from 'node:timers/promises'

export interface WaitOptions {
  /** Milliseconds after which waiting fails; by default as long as a machine with both cores busy may need. */
  timeoutMs?: number
  /** Milliseconds between two looks; by default from 25 to 250, the more the longer it takes. */
  everyMs?: number
  /** Names what is waited for, in the error. */
  what?: string
}

/** Looks until `probe` gives something other than null, undefined or false, and returns it. Errors count as "not yet". */
export async function waitFor<T>(
  probe: () => Promise<T | null | undefined | false> | T | null | undefined | false,
  { timeoutMs = 60_000, everyMs, what = 'the condition' }: WaitOptions = {},
): Promise<T> {
  const end = Date.now() + timeoutMs
  let pause = everyMs ?? 25
  let last: unknown
  for (;;) {
    try {
      const value = await probe()
      if (value !== null && value !== undefined && value !== false) return value
      last = undefined
    } catch (error) {
      last = error
    }
    if (Date.now() > end) throw new Error(`waited ${timeoutMs} ms in vain for ${what}`, { cause: last })
    await sleep(pause)
    if (everyMs === undefined) pause = Math.min(pause * 1.25, 250)
  }
}

/** Looks until the value is as wanted, and returns it; the error shows the last one seen. */
export async function waitForValue<T>(
  what: string,
  look: () => Promise<T> | T,
  isWanted: (value: T) => boolean,
): Promise<T> {
  let seen: T | undefined
  try {
    await waitFor(
      async () => {
        seen = await look()
        return isWanted(seen)
      },
      { what },
    )
  } catch (error) {
    throw new Error(`${(error as Error).message}; last seen: ${JSON.stringify(seen)}`, { cause: error })
  }
  return seen as T
}
