import type { ServerResponse } from 'node:http'

/** Calls `fn` when the answer has ended or its client is gone. Calls it at once if that has already happened. */
export function whenClosed(response: ServerResponse, fn: () => void): void {
  if (response.closed) fn()
  else response.once('close', fn)
}
