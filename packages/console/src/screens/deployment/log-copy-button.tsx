import { Button, Text } from '@mantine/core'
import { type RefObject, useState } from 'react'
import { counted } from '../../components/counted.ts'
import type { LogColumn, LogContext } from './log-columns.ts'
import { linesAround, MAX_COPIED, textOf } from './log-copy.ts'
import type { LogLine } from './log-reads.ts'
import type { LogStore } from './log-store.ts'

interface Props {
  id: string
  log: LogStore
  /** The lines that match a filter; null for all of the log. */
  found: readonly LogLine[] | null
  /** The row in the middle of the view. */
  middle: RefObject<number>
  columns: readonly LogColumn[]
  context: LogContext
  onError: (error: Error | null) => void
}

/** Copies what is shown: the lines that match, or the log. Of a longer log, it copies the lines around the view, and says so. */
export function CopyLog({ id, log, found, middle, columns, context, onError }: Props) {
  const [busy, setBusy] = useState(false)
  const [copied, setCopied] = useState('')
  const copy = async () => {
    setBusy(true)
    onError(null)
    try {
      const lines = found ?? (await linesAround(id, middle.current, log.count))
      await navigator.clipboard.writeText(textOf(lines, columns, context))
      setCopied(describe(lines, found !== null, log.count))
    } catch (problem) {
      onError(problem as Error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <>
      <Text size="xs" role="status">
        {copied}
      </Text>
      <Button
        variant="default"
        size="xs"
        loading={busy}
        onClick={copy}
        title={`Copies the lines that are shown, at most ${MAX_COPIED.toLocaleString()}`}
      >
        Copy
      </Button>
    </>
  )
}

function describe(lines: readonly LogLine[], isFiltered: boolean, count: number): string {
  const [first, last] = [lines[0]?.number ?? 0, lines.at(-1)?.number ?? 0]
  if (isFiltered || lines.length >= count) return `${counted(lines.length, 'line')} copied`
  return `Lines ${(first + 1).toLocaleString()} to ${(last + 1).toLocaleString()} copied`
}
