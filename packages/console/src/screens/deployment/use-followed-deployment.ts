import { useDocumentVisibility } from '@mantine/hooks'
import { isFinalState } from '@slipway/client'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState } from 'react'
import { client } from '../../api/client.ts'
import { useServerState } from '../../api/connection.ts'
import { readAgain, useRead } from '../../api/queries.ts'
import { countLines } from './log-reads.ts'
import { LogStore } from './log-store.ts'
import { StepStates } from './step-states.ts'

interface Progress {
  completed: number
  total: number
}

/** The levels of output: stdout and stderr. */
const LEVELS = ['info', 'error']
const placeOf = (step: string | null, level: string) => `${step} ${level}`
const isRunning = (state: string) => state === 'running' || state === 'rolling_back'

/** How long after a failure its explanation is read, with those that follow at once. */
const FAILURES_AFTER_MS = 2_000

const EXPECTED_ENDINGS = /abort/i

/** One deployment with its live log: record, state of each step, progress, and lines, for as long as it is on screen. */
export function useFollowedDeployment(id: string) {
  const detail = useRead('getDeployment', { params: { id } }, { isLarge: true })
  const queries = useQueryClient()
  const log = useMemo(() => new LogStore(id), [id])
  const [steps] = useState(() => new StepStates())
  const [progress, setProgress] = useState<Progress | null>(null)
  /** The state that the stream streamed last; an object of its own each time. */
  const [streamed, setStreamed] = useState<{ state: string } | null>(null)
  /** Whether the stream told of a failed step. */
  const [hasFailed, setFailed] = useState(false)
  const [error, setError] = useState<Error | null>(null)

  // A browser has six connections to a server without HTTP/2: tabs that nobody looks at give theirs back.
  const isInView = useDocumentVisibility() === 'visible'
  const { returnedAt } = useServerState()

  // biome-ignore lint/correctness/useExhaustiveDependencies: what has stopped begins again when the server is back
  useEffect(() => {
    if (!isInView) return
    setError(null)
    const ending = new AbortController()
    let reading: ReturnType<typeof setTimeout> | undefined
    const readFailures = () => {
      setFailed(true)
      reading ??= setTimeout(() => {
        reading = undefined
        void readAgain(queries, ['listCommandResults'])
      }, FAILURES_AFTER_MS)
    }
    const follow = async () => {
      const from = await countLines(id, ending.signal)
      log.setCount(from)
      for await (const { event, data } of client.followLogs(id, {
        from,
        signal: ending.signal,
        giveUpAfterMs: 600_000,
      })) {
        if (event === 'log') {
          const { metadata, timestamp, level, step_id, target_name, message } = data.log
          const place = placeOf(step_id, level)
          const isFailure = metadata?.['analysis'] !== undefined
          const line = { at: timestamp, level, target: target_name, step: step_id, text: message, isFailure }
          if (metadata?.partial) log.setPartialLine(place, { ...line, number: log.count })
          else {
            log.setPartialLine(place, null)
            log.add({ ...line, number: metadata?.seq ?? log.count })
          }
        } else if (event === 'step_update') {
          steps.set(data.step_id, data.state)
          if (data.state === 'failed') readFailures()
          if (!isRunning(data.state)) for (const level of LEVELS) log.setPartialLine(placeOf(data.step_id, level), null)
        } else if (event === 'progress') {
          setProgress({ completed: data.completed_steps, total: data.total_steps })
        } else if (event === 'state_change') {
          if (data.log_lines !== undefined) log.setCount(data.log_lines)
          setStreamed({ state: data.new_state })
        }
      }
    }
    follow().catch((problem: Error) => {
      if (!ending.signal.aborted && !EXPECTED_ENDINGS.test(problem.name)) setError(problem)
    })
    return () => {
      ending.abort()
      clearTimeout(reading)
    }
  }, [id, log, steps, queries, isInView, returnedAt])

  const shown = useRef<string | undefined>(undefined)
  shown.current = detail.data?.state
  const isRead = detail.data !== undefined
  useEffect(() => {
    if (streamed === null || !isRead) return
    void readAgain(queries, ['listDeployments', 'listCommandResults'])
    // With 200,000 steps it has 88 MB: it is read again for news alone, not whenever a stream begins.
    if (streamed.state !== shown.current) void readAgain(queries, ['getDeployment'])
  }, [streamed, isRead, queries])

  const isOver = detail.data !== undefined && isFinalState(detail.data.state)
  return { detail, log, steps, progress: isOver ? null : progress, hasFailed, error, isOver }
}
