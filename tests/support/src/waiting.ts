import fs from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { SLOW, WAIT_MS } from './bounds.ts'

export interface WaitOptions {
  /** The timeout in milliseconds, by default 10 s. The variable SLOW stretches it. */
  timeoutMs?: number | undefined
  /** Milliseconds between two calls of `probe`. By default they grow from 25 to 250. */
  everyMs?: number
  /** The name of the condition in the error. */
  what?: string
}

/** Calls `probe` until it returns a value other than null, undefined and false. Returns this value. Errors count as "not yet". */
export async function waitFor<T>(
  probe: () => Promise<T | null | undefined | false> | T | null | undefined | false,
  { timeoutMs, everyMs, what = 'the condition' }: WaitOptions = {},
): Promise<T> {
  const bound = timeoutMs === undefined ? WAIT_MS : timeoutMs * SLOW
  const end = Date.now() + bound
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
    if (Date.now() > end) throw new Error(`waited ${bound} ms in vain for ${what}`, { cause: last })
    await sleep(pause)
    if (everyMs === undefined) pause = Math.min(pause * 1.25, 250)
  }
}

/** Reads a value until it is the wanted one, and returns it. The timeout error shows the last value. */
export async function waitForValue<T>(
  what: string,
  read: () => Promise<T> | T,
  isWanted: (value: T) => boolean,
): Promise<T> {
  let seen: T | undefined
  try {
    await waitFor(
      async () => {
        seen = await read()
        return isWanted(seen)
      },
      { what },
    )
  } catch (error) {
    throw new Error(`${(error as Error).message}; last seen: ${JSON.stringify(seen)}`, { cause: error })
  }
  return seen as T
}

/**
 * The complete lines of a file that a command appends to; none if there is no file. A shell creates the file of a
 * redirection before its command writes, so an empty file has no line.
 */
export function completeLines(file: string): string[] {
  return fs.existsSync(file) ? fs.readFileSync(file, 'utf8').split('\n').slice(0, -1) : []
}
