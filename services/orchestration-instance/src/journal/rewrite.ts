import type { LogEvent } from '@slipway/contracts'
import type { Record } from './records.ts'

/** Which lines of a journal a rewrite keeps. */
export interface Rewriting {
  keeps(line: string): boolean
  /** A line to be added at the end. */
  last(): string
}

const LOG_EVENT = /^\{"n":(\d+),"event":\{"type":"log"/

/** Leaves out acknowledged log lines, and keeps their number. */
export function withoutTaken(acknowledged: number): Rewriting {
  let lastTaken: string | null = null
  let nextLine = 0
  return {
    keeps(line) {
      if (line.startsWith('{"acknowledged":')) {
        nextLine = Math.max(nextLine, (JSON.parse(line) as { next_line?: number }).next_line ?? 0)
        return false
      }
      const n = LOG_EVENT.exec(line)?.[1]
      if (n === undefined || Number(n) >= acknowledged) return true
      lastTaken = line
      return false
    },
    last() {
      if (lastTaken !== null) {
        nextLine = Math.max(nextLine, (JSON.parse(lastTaken) as { event: LogEvent }).event.line + 1)
      }
      return JSON.stringify({ acknowledged, next_line: nextLine } satisfies Record)
    },
  }
}
