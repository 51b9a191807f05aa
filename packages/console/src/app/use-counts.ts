import type { Answer } from '@slipway/client'
import { useLocation } from '@tanstack/react-router'
import { useBusy } from '../api/live.ts'
import { useRead } from '../api/queries.ts'
import { useSession } from '../session/session.tsx'

export type Counts = Answer<'getOverviewCounts'>['counts']

const EVERY_MS = 30_000

/** Where one sees from one second to the next how deployments go on. */
const FOLLOWS_RUNNING = ['/', '/deployments', '/queue']

/** How much runs, waits and has failed; undefined until that is known. Now has the counts in its own answer. */
export function useCounts(): Counts | undefined {
  const { can } = useSession()
  const { pathname } = useLocation()
  const isNow = pathname === '/'
  const enabled = can('deployments:read')
  const overview = useRead('getOverview', {}, { enabled: enabled && isNow })
  const alone = useRead('getOverviewCounts', {}, { enabled: enabled && !isNow, everyMs: EVERY_MS })
  const newest = [overview, alone].sort((a, b) => b.dataUpdatedAt - a.dataUpdatedAt)
  const counts = newest.find(({ data }) => data !== undefined)?.data?.counts
  useBusy(counts !== undefined && counts.running > 0 && FOLLOWS_RUNNING.includes(pathname))
  return counts
}
