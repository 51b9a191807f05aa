import type { ServerResponse } from 'node:http'

/** Calls `fn` when the answer has ended or its client is gone: at once where that has happened meanwhile. */
export function whenClosed(response: ServerResponse, fn: () => void): void {
  if (response.closed) fn()
  else response.once('close', fn)
}
