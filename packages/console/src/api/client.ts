import { type Locks, SlipwayClient } from '@slipway/client'

// Browsers have locks over HTTPS and on the machine itself only. Elsewhere two tabs may end each other's session.
const withoutLocks: Locks = { request: (_name, work) => work() }

/** The API on this page's origin. The access token stays in memory; the browser keeps the refresh token in a cookie. */
export const client = new SlipwayClient({
  url: window.location.origin,
  cookies: 'locks' in navigator ? navigator.locks : withoutLocks,
  retryForMs: 10_000,
})
