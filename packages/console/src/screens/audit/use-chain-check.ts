import type { Answer } from '@slipway/client'
import { useEffect, useRef, useState } from 'react'
import { client } from '../../api/client.ts'

type Part = Answer<'checkAuditChain'>

export type ChainCheck = Pick<Part, 'links' | 'head' | 'dropped' | 'broken' | 'findings'> & { isComplete: boolean }

const NOTHING = { links: 0, broken: 0, findings: [] }

/** Checks the whole chain part by part, as long as the screen is open. */
export function useChainCheck() {
  const [check, setCheck] = useState<ChainCheck | null>(null)
  const [error, setError] = useState<Error | null>(null)
  const running = useRef<AbortController | null>(null)
  useEffect(() => () => running.current?.abort(), [])

  const start = async () => {
    running.current?.abort()
    const controller = new AbortController()
    running.current = controller
    const { signal } = controller
    setError(null)
    let known: Pick<ChainCheck, 'links' | 'broken' | 'findings'> = NOTHING
    try {
      for (let after: number | null = 0; after !== null; ) {
        const part: Part = await client.call('checkAuditChain', { query: { after: String(after) }, signal })
        if (signal.aborted) return
        const { head, dropped, next } = part
        known = {
          links: known.links + part.links,
          broken: known.broken + part.broken,
          findings: [...known.findings, ...part.findings],
        }
        setCheck({ ...known, head, dropped, isComplete: next === null })
        after = next
      }
    } catch (problem) {
      if (!signal.aborted) setError(problem as Error)
    }
  }
  return { check, error, isRunning: check !== null && !check.isComplete && error === null, start }
}
