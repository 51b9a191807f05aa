import type { OperationId } from '@slipway/client'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { readAgain } from './queries.ts'

const EVERY_MS = 3_000

/**
 * While this is on screen and its tab in view, what these operations show is read again every three seconds. Not by the
 * API's streams: a browser has six connections to a server without HTTP/2, and a few tabs with streams would use them up.
 */
export function useLive(...reads: OperationId[]): void {
  const queries = useQueryClient()
  const operations = useRef(reads)
  operations.current = reads
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState !== 'visible') return
      // A read that takes longer than the interval goes on; to begin anew each time would never end.
      void readAgain(queries, operations.current, { cancelRefetch: false })
    }, EVERY_MS)
    return () => clearInterval(timer)
  }, [queries])
}
