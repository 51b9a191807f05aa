import { waitFor } from '@slipway/testing'

/** Calls `ask` until its result is not false, null or undefined, and returns it. The error after the timeout names `what`. */
export function eventually<T>(
  what: string,
  ask: () => Promise<T | null | undefined | false> | T | null | undefined | false,
): Promise<T> {
  return waitFor<T>(ask, { what, everyMs: 20 })
}
