import type { LogEvent } from '@slipway/contracts'
import type { JournalRecord } from './records.ts'

export interface RewriteRules {
  keeps(line: string): boolean
  /** Returns the line to add at the end. */
  last(): string
}

const LOG_EVENT = /^\{"n":(\d+),"event":\{"type":"log"/

/** Removes acknowledged log lines. The added line keeps the number of the next log line. */
export function withoutAcknowledgedLines(acknowledged: number): RewriteRules {
  let lastRemoved: string | null = null
  let nextLine = 0
  return {
    keeps(line) {
      if (line.startsWith('{"acknowledged":')) {
        nextLine = Math.max(nextLine, (JSON.parse(line) as { next_line?: number }).next_line ?? 0)
        return false
      }
      const n = LOG_EVENT.exec(line)?.[1]
      if (n === undefined || Number(n) >= acknowledged) return true
      lastRemoved = line
      return false
    },
    last() {
      if (lastRemoved !== null) {
        nextLine = Math.max(nextLine, (JSON.parse(lastRemoved) as { event: LogEvent }).event.line + 1)
      }
      return JSON.stringify({ acknowledged, next_line: nextLine } satisfies JournalRecord)
    },
  }
}
