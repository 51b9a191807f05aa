import { memo, useEffect } from 'react'
import { AnsiText } from './ansi-text.tsx'
import { useChanges } from './changes.ts'
import './log.css'
import type { LogLine } from './log-reads.ts'
import type { LogStore } from './log-store.ts'
import { type RowWindow, useDrawnRows } from './row-window.ts'

/** As in log.css. */
export const LINE_HEIGHT = 20

interface Props {
  log: LogStore
  rows: RowWindow
  /** The lines that match a filter; null for all of the log. */
  found: readonly LogLine[] | null
  /** The line to bring into view. */
  chosen: number | null
  onChoose: (line: number) => void
}

/** The lines in view. */
export function LogLines({ log, rows, found, chosen, onChoose }: Props) {
  const version = useChanges(log.changes)
  const { first, end, offset, height } = useDrawnRows(
    rows,
    found === null ? log.count + log.partialLines.length : found.length,
  )

  // Lines of the view may be missing, and come later: so this asks again whenever some came.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  useEffect(() => {
    if (found === null) log.show(first, end)
  }, [log, found, first, end, version])

  const hasLines = found === null && log.count > 0
  useEffect(() => {
    if (chosen !== null && hasLines) rows.show(chosen, 'middle')
  }, [chosen, hasLines, rows])

  const indices = Array.from({ length: Math.max(0, end - first) }, (_, place) => first + place)
  return (
    <div
      ref={rows.attach}
      className="log"
      role="log"
      aria-label="Output"
      aria-live="off"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
      tabIndex={0}
      onKeyDown={(event) => {
        // Browsers scroll smoothly to where the end was when the key was pressed.
        if (event.key === 'End') rows.follow(true)
        else if (event.key === 'Home') rows.show(0, 'nearest')
        else return
        event.preventDefault()
      }}
    >
      <div style={{ height }}>
        <div className="log-lines" style={{ transform: `translateY(${offset}px)` }}>
          {indices.map((index) => {
            const partial = found === null ? log.partialLines[index - log.count] : undefined
            if (partial !== undefined) return <PartialLine key={index} line={partial} />
            const line = found === null ? log.line(index) : found[index]
            const number = line?.number ?? index
            return <Line key={index} number={number} line={line} isChosen={number === chosen} onChoose={onChoose} />
          })}
        </div>
      </div>
    </div>
  )
}

/** A line that its command has not finished. It has no number yet. */
const PartialLine = memo(({ line }: { line: LogLine }) => (
  <div className="log-line" data-level={line.level} title={line.at}>
    <span className="log-number" />
    <span className="log-target">{line.target ?? ''}</span>
    <span data-testid="log-partial-text">
      <AnsiText text={line.text} />
    </span>
  </div>
))

interface LineProps {
  number: number
  line: LogLine | undefined
  isChosen: boolean
  onChoose: (number: number) => void
}

const Line = memo(({ number, line, isChosen, onChoose }: LineProps) => (
  <div className="log-line" data-level={line?.level} data-chosen={isChosen} title={line?.at}>
    <a
      className="log-number"
      href={`?line=${number}`}
      tabIndex={-1}
      aria-label={`Link to line ${number}`}
      onClick={(event) => {
        event.preventDefault()
        onChoose(number)
      }}
    >
      {number}
    </a>
    <span className="log-target">{line?.target ?? ''}</span>
    <span data-testid="log-text">{line === undefined ? '…' : <AnsiText text={line.text} />}</span>
  </div>
))
