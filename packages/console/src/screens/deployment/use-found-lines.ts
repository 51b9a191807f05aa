import type { LogFilter } from '@slipway/client'
import { useEffect, useState } from 'react'
import { useServerState } from '../../api/connection.ts'
import { findLines, type LogLine } from './log-reads.ts'
import type { LogStore } from './log-store.ts'

export interface Found {
  lines: LogLine[]
  /** How many lines have been looked at. */
  looked: number
  /** Why the search stopped before its end. */
  error: Error | null
}

const PAGE = 1_000
const MAX_FOUND = 10_000
const LOOK_AGAIN_MS = 1_000
const NOTHING: Found = { lines: [], looked: 0, error: null }

/** The lines that match, from the beginning on, as far as the server has looked. It looks at new lines as they come. */
export function useFoundLines(id: string, log: LogStore, filter: LogFilter | null): Found {
  const [found, setFound] = useState<Found>(NOTHING)
  const serialized = filter === null ? null : JSON.stringify(filter)
  const { returnedAt } = useServerState()
  // biome-ignore lint/correctness/useExhaustiveDependencies: what has stopped begins again when the server is back
  useEffect(() => {
    setFound(NOTHING)
    if (serialized === null) return
    const ending = new AbortController()
    const { signal } = ending
    const query: LogFilter = JSON.parse(serialized)
    const search = async () => {
      const lines: LogLine[] = []
      let looked = 0
      while (!signal.aborted && lines.length < MAX_FOUND) {
        if (looked >= log.count) {
          await pause(LOOK_AGAIN_MS)
          continue
        }
        const page = await findLines(id, query, { from: looked, limit: PAGE, signal })
        if (page.next === looked) await pause(LOOK_AGAIN_MS)
        looked = page.next
        lines.push(...page.lines)
        if (!signal.aborted) setFound({ lines: [...lines], looked, error: null })
      }
    }
    search().catch((error: Error) => {
      if (!signal.aborted) setFound((before) => ({ ...before, error }))
    })
    return () => ending.abort()
  }, [id, log, serialized, returnedAt])
  return found
}

/** How far a search of a log with so many lines has come. */
export function describeFound({ lines, looked }: Found, count: number): string {
  const [found, searched, all] = [lines.length, looked, count].map((number) => number.toLocaleString())
  if (lines.length >= MAX_FOUND) return `the first ${found} lines that match, in the first ${searched} of ${all}`
  const match = lines.length === 1 ? 'line matches' : 'lines match'
  return looked < count ? `${found} ${match} so far; ${searched} of ${all} are searched` : `${found} ${match}`
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
