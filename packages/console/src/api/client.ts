import { type Locks, SlipwayClient } from '@slipway/client'
import { observedFetch } from './connection.ts'

// Browsers have locks over HTTPS and on the machine itself only. Elsewhere two tabs may end each other's session.
const withoutLocks: Locks = { request: (_name, work) => work() }

const sessionEndListeners = new Set<() => void>()

/** Calls the listener when a call finds that the session is over. Returns how to stop that. */
export function onSessionEnd(listener: () => void): () => void {
  sessionEndListeners.add(listener)
  return () => sessionEndListeners.delete(listener)
}

/** The API on this page's origin. The access token stays in memory; the browser keeps the refresh token in a cookie. */
export const client = new SlipwayClient({
  url: window.location.origin,
  cookies: 'locks' in navigator ? navigator.locks : withoutLocks,
  onSessionEnd: () => {
    for (const listener of sessionEndListeners) listener()
  },
  retryForMs: 10_000,
  fetch: observedFetch,
  rememberAnswers: 100,
})
