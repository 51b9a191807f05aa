import { useDocumentVisibility } from '@mantine/hooks'
import { useEffect, useState } from 'react'
import { useServerState } from '../../api/connection.ts'
import { useChanges } from './changes.ts'
import { type LogLine, lastLinesOf } from './log-reads.ts'
import type { LogStore } from './log-store.ts'

const TAIL = 50
/** New lines are shown at most so often. */
const SHOW_EVERY_MS = 500

interface StepTail {
  text: string
  isRead: boolean
  /** Why the stored lines could not be read. */
  error: Error | null
}

/** The last lines of one step, also those that come while it runs, and the line that it has not finished. */
export function useStepTail(id: string, step: string, log: LogStore): StepTail {
  useChanges(log.changes)
  const [lines, setLines] = useState<readonly LogLine[] | null>(null)
  const [error, setError] = useState<Error | null>(null)
  // Lines that came while the tab was hidden, or the server silent, are only stored.
  const isInView = useDocumentVisibility() === 'visible'
  const { returnedAt } = useServerState()
  // biome-ignore lint/correctness/useExhaustiveDependencies: reads again when it is looked at and when the server is back
  useEffect(() => {
    const ending = new AbortController()
    const known = new Map<number, LogLine>()
    let showing: ReturnType<typeof setTimeout> | undefined
    const show = () => {
      showing = undefined
      const last = [...known.values()].sort((a, b) => a.number - b.number).slice(-TAIL)
      known.clear()
      for (const line of last) known.set(line.number, line)
      setLines(last)
    }
    const stop = log.onLine((line) => {
      if (line.step !== step) return
      known.set(line.number, line)
      showing ??= setTimeout(show, SHOW_EVERY_MS)
    })
    setError(null)
    lastLinesOf(id, { step_id: step }, TAIL, ending.signal).then(
      (stored) => {
        if (ending.signal.aborted) return
        for (const line of stored) known.set(line.number, line)
        show()
      },
      (problem: Error) => ending.signal.aborted || setError(problem),
    )
    return () => {
      ending.abort()
      stop()
      clearTimeout(showing)
    }
  }, [id, step, log, isInView, returnedAt])
  const unfinished = log.partialLines.filter((line) => line.step === step)
  return { text: [...(lines ?? []), ...unfinished].map(({ text }) => text).join('\n'), isRead: lines !== null, error }
}
