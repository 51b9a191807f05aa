import { useEffect, useState } from 'react'
import { type LogLine, type LogStore, readLines } from './log-store.ts'

export interface LogFilter {
  text: string
  target: string | null
  level: string | null
}

export interface Found {
  lines: LogLine[]
  /** How many lines have been looked at. */
  looked: number
  /** Why the search stopped before its end. */
  error: Error | null
}

const PAGE = 1_000
const MAX_FOUND = 10_000
const SETTLE_MS = 300
const LOOK_AGAIN_MS = 1_000
const NOTHING: Found = { lines: [], looked: 0, error: null }

/** The lines that match, read from the beginning on; the API cannot filter. New lines are looked at as they come. */
export function useFoundLines(id: string, log: LogStore, filter: LogFilter, isOn: boolean): Found {
  const [found, setFound] = useState<Found>(NOTHING)
  const { text, target, level } = filter
  useEffect(() => {
    setFound(NOTHING)
    if (!isOn) return
    let stopped = false
    const wanted = text.toLowerCase()
    const matches = (line: LogLine) =>
      (wanted === '' || line.text.toLowerCase().includes(wanted)) &&
      (target === null || line.target === target) &&
      (level === null || line.level === level)
    const search = async () => {
      const lines: LogLine[] = []
      let looked = 0
      await pause(SETTLE_MS)
      while (!stopped && lines.length < MAX_FOUND) {
        const page = looked < log.count ? await readLines(id, looked, PAGE) : []
        looked += page.length
        lines.push(...page.filter(matches))
        if (stopped) return
        if (page.length > 0) setFound({ lines: [...lines], looked, error: null })
        else await pause(LOOK_AGAIN_MS)
      }
    }
    search().catch((error: Error) => {
      if (!stopped) setFound((before) => ({ ...before, error }))
    })
    return () => {
      stopped = true
    }
  }, [id, log, text, target, level, isOn])
  return found
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
