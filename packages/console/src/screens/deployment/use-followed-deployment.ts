import { useDocumentVisibility } from '@mantine/hooks'
import { isFinalState } from '@slipway/client'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import { client } from '../../api/client.ts'
import { readAgain, useRead } from '../../api/queries.ts'
import { countLines, LogStore } from './log-store.ts'

interface Progress {
  completed: number
  total: number
}

const EXPECTED_ENDINGS = /abort/i

/** One deployment with its live log: record, state of each step, progress, and lines, for as long as it is on screen. */
export function useFollowedDeployment(id: string) {
  const detail = useRead('getDeployment', { params: { id } })
  const queries = useQueryClient()
  const log = useMemo(() => new LogStore(id), [id])
  const [steps, setSteps] = useState<ReadonlyMap<string, string>>(new Map())
  const [progress, setProgress] = useState<Progress | null>(null)
  const [error, setError] = useState<Error | null>(null)

  // A browser has six connections to a server without HTTP/2: tabs that nobody looks at give theirs back.
  const isInView = useDocumentVisibility() === 'visible'

  useEffect(() => {
    if (!isInView) return
    const ending = new AbortController()
    const changed = new Map<string, string>()
    let drawing: number | undefined
    const draw = () => {
      drawing ??= requestAnimationFrame(() => {
        drawing = undefined
        setSteps(new Map(changed))
      })
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
          const { metadata, timestamp, level, target_name, message } = data.log
          log.add({ number: metadata?.seq ?? log.count, at: timestamp, level, target: target_name, text: message })
        } else if (event === 'step_update') {
          changed.set(data.step_id, data.state)
          draw()
        } else if (event === 'progress') {
          setProgress({ completed: data.completed_steps, total: data.total_steps })
        } else if (event === 'state_change') {
          if (data.log_lines !== undefined) log.setCount(data.log_lines)
          await readAgain(queries, ['getDeployment', 'listDeployments', 'listCommandResults'])
        }
      }
    }
    follow().catch((problem: Error) => {
      if (!ending.signal.aborted && !EXPECTED_ENDINGS.test(problem.name)) setError(problem)
    })
    return () => {
      ending.abort()
      if (drawing !== undefined) cancelAnimationFrame(drawing)
    }
  }, [id, log, queries, isInView])

  const isOver = detail.data !== undefined && isFinalState(detail.data.state)
  return { detail, log, steps, progress: isOver ? null : progress, error, isOver }
}
