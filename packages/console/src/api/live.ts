import type { OperationId } from '@slipway/client'
import { type QueryClient, type QueryFilters, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { isInView, onServerState, serverState } from './connection.ts'
import { dueRead } from './pulse.ts'

const LOOK_EVERY_MS = 500
/** After a change of one's own, its effects are worth more calls for a while. */
const BUSY_FOR_MS = 10_000

/** What is read again, and how often. One of them, such as a list, may be on screen in several places. */
interface Registration {
  operation: OperationId
  everyMs: number | null
}
const registrations = new Set<Registration>()
let changedAt = Number.NEGATIVE_INFINITY
let isSomethingRunning = false

/** Something was changed on this page. */
export const noteChange = (): void => {
  changedAt = Date.now()
}

/** Says whether the screen shows something that changes from one second to the next. */
export function useBusy(isBusy: boolean): void {
  useEffect(() => {
    isSomethingRunning = isBusy
    return () => {
      isSomethingRunning = false
    }
  }, [isBusy])
}

/**
 * While this is on screen and its tab in view, what these operations show is read again every few seconds. Not by the
 * API's streams: a browser has six connections to a server without HTTP/2, and a few tabs with streams would use them up.
 */
export function useLive(...reads: OperationId[]): void {
  const names = reads.join(' ')
  useEffect(() => {
    const added =
      names === '' ? [] : names.split(' ').map((operation) => ({ operation: operation as OperationId, everyMs: null }))
    return register(added)
  }, [names])
}

/** Reads what an operation shows again after so many milliseconds, as `useLive` does. */
export function useReadEvery(operation: OperationId, everyMs: number | undefined, enabled: boolean): void {
  useEffect(
    () => (everyMs === undefined || !enabled ? undefined : register([{ operation, everyMs }])),
    [operation, everyMs, enabled],
  )
}

function register(added: readonly Registration[]): () => void {
  for (const one of added) registrations.add(one)
  return () => {
    for (const one of added) registrations.delete(one)
  }
}

/** Reads again what is registered. It belongs to the page as a whole. */
export function usePulse(): void {
  const queries = useQueryClient()
  useEffect(() => {
    let lastCallAt = Date.now()
    const timer = setInterval(() => {
      if (!isInView()) return
      const now = Date.now()
      const isBusy = isSomethingRunning || now - changedAt < BUSY_FOR_MS
      const due = dueRead(candidatesOf(queries), { now, lastCallAt, isBusy })
      if (due === null) return
      lastCallAt = now
      // A read that takes longer than the interval goes on; to begin anew each time would never end.
      void queries.invalidateQueries({ queryKey: due.queryKey, exact: true }, { cancelRefetch: false })
    }, LOOK_EVERY_MS)
    return () => clearInterval(timer)
  }, [queries])
}

/** After so long a silence, no answer comes any more to what was asked before it. */
const LOST_AFTER_MS = 10_000

/** When the server answers again, everything that got no answer is read at once. */
export function useReturnOfServer(): void {
  const queries = useQueryClient()
  useEffect(
    () =>
      onServerState(() => {
        const { isSilent, lastNewsAt, returnedAt } = serverState()
        if (isSilent) return
        const isLost = (returnedAt ?? 0) - (lastNewsAt ?? 0) > LOST_AFTER_MS
        const isWanting: QueryFilters['predicate'] = ({ state: { error, fetchStatus } }) =>
          error !== null || (isLost && fetchStatus === 'fetching')
        void queries.refetchQueries({ type: 'active', predicate: isWanting }, { cancelRefetch: isLost })
      }),
    [queries],
  )
}

/** What is on screen of the registered operations. */
function candidatesOf(queries: QueryClient) {
  return [...registrations].flatMap(({ operation, everyMs }) =>
    queries
      .getQueryCache()
      .findAll({ queryKey: [operation], type: 'active', fetchStatus: 'idle', stale: true })
      .map(({ queryKey, state }) => ({
        queryKey,
        everyMs,
        readAt: Math.max(state.dataUpdatedAt, state.errorUpdatedAt),
      })),
  )
}
