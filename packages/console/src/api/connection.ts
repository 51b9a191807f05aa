import { useSyncExternalStore } from 'react'
import { isAnswer, ServerNews, type ServerState } from './server-news.ts'

const PROBE_TIMEOUT_MS = 4_000
const ASK_AGAIN_MS = 1_500

const news = new ServerNews({
  probe: async () => {
    const options: RequestInit = { cache: 'no-store', signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) }
    const answer = await fetch('/api/v1/health', options).catch(() => null)
    if (answer !== null && isAnswer(answer)) news.answered()
  },
  now: Date.now,
  after: (ms, work) => {
    const timer = setTimeout(work, ms)
    return () => clearTimeout(timer)
  },
})

/** Sends a request, and notes whether the server answers. */
export const observedFetch: typeof fetch = async (input, init) => {
  if (isInView()) news.asked()
  const response = await fetch(input, init)
  if (isAnswer(response)) news.answered()
  return response
}

export const isInView = (): boolean => document.visibilityState === 'visible'

// Timers of a tab in the background, and of a machine that sleeps, are late. What they say then is not true any more.
document.addEventListener('visibilitychange', () =>
  isInView() ? serverState().isSilent && news.asked() : news.pause(),
)
// A browser may err when it says that it is offline: it is a reason to ask.
window.addEventListener('offline', () => {
  const ask = () => isInView() && news.asked()
  ask()
  // An answer that was on its way ends the first question.
  setTimeout(ask, ASK_AGAIN_MS)
})

export const serverState = (): ServerState => news.state

/** Calls the listener when the server falls silent, and when it answers again. Returns how to stop that. */
export const onServerState = news.subscribe

export const useServerState = (): ServerState => useSyncExternalStore(onServerState, serverState)
