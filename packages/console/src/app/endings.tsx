import { useDocumentVisibility } from '@mantine/hooks'
import type { Answer, Item } from '@slipway/client'
import { type Query, useQueryClient } from '@tanstack/react-query'
import { useLocation } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { useRead } from '../api/queries.ts'
import { setMark } from '../components/page-title.ts'
import { sourceName } from '../components/source-name.ts'
import { creationOf, WatchList } from './watch-list.ts'

type Deployment = Item<'listDeployments'> | Answer<'getDeployment'>

const LOOK_EVERY_MS = 15_000

const WORDS: Record<string, string> = {
  success: 'succeeded',
  failed: 'failed',
  cancelled: 'was cancelled',
  rolled_back: 'was rolled back',
}

/**
 * Tells the end of each deployment that this page has shown while it ran: to screen readers, and by a mark in title and
 * icon where nobody looks at the page.
 */
export function Endings() {
  const queries = useQueryClient()
  const [list] = useState(() => new WatchList<Deployment>())
  const [running, setRunning] = useState(list.running)
  const [told, setTold] = useState('')
  useEffect(
    () =>
      queries.getQueryCache().subscribe((event) => {
        if (event.type !== 'updated' || event.action.type !== 'success') return
        const ended = list.note(...shownBy(event.query))
        setRunning(list.running)
        if (ended.length === 0) return
        setTold(ended.map((one) => `${sourceName(one)} ${WORDS[one.state] ?? one.state}`).join(', '))
        if (!isLookedAt()) setMark(ended.every(({ state }) => state === 'success') ? '✓' : '✗')
      }),
    [queries, list],
  )
  useEffect(() => {
    const onLook = () => isLookedAt() && setMark(null)
    window.addEventListener('focus', onLook)
    document.addEventListener('visibilitychange', onLook)
    return () => {
      window.removeEventListener('focus', onLook)
      document.removeEventListener('visibilitychange', onLook)
    }
  }, [])
  useLookAt(running)
  return (
    <div role="status" aria-live="polite" className="visually-hidden">
      {told}
    </div>
  )
}

const isLookedAt = () => document.visibilityState === 'visible' && document.hasFocus()

/** Reads the watched deployments from time to time. The screen of a deployment follows it without this while in view. */
function useLookAt(running: readonly Deployment[]): void {
  const { pathname } = useLocation()
  const isHidden = useDocumentVisibility() !== 'visible'
  const elsewhere = isHidden ? running : running.filter(({ id }) => pathname !== `/deployments/${id}`)
  const isNeeded = elsewhere.length > 0
  const query = { limit: 100, ...(isNeeded ? creationOf(elsewhere) : {}) }
  // In the background the page reads nothing else.
  const { refetch } = useRead('listDeployments', { query }, { enabled: isNeeded, everyMs: LOOK_EVERY_MS })
  useEffect(() => {
    if (!isNeeded || !isHidden) return
    const timer = setInterval(() => void refetch(), LOOK_EVERY_MS)
    return () => clearInterval(timer)
  }, [isNeeded, isHidden, refetch])
}

/** What an answer shows of deployments, and whether that is the screen of one. */
function shownBy({ queryKey: [operation], state: { data } }: Query): [Deployment[], boolean] {
  if (operation === 'getDeployment') return [[data as Answer<'getDeployment'>], true]
  if (operation === 'listDeployments') return [(data as Answer<'listDeployments'>).data, false]
  if (operation === 'getOverview') return [(data as Answer<'getOverview'>).ended, false]
  return [[], false]
}
