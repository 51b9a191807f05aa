import { useVirtualizer } from '@tanstack/react-virtual'
import { memo, type UIEvent, useEffect, useLayoutEffect, useRef } from 'react'
import { AnsiText } from './ansi-text.tsx'
import { useChanges } from './changes.ts'
import './log.css'
import { type LogPlace, lastPart, PART, placeAt } from './log-place.ts'
import type { LogLine } from './log-reads.ts'
import type { LogStore } from './log-store.ts'

/** As in log.css. */
const LINE_HEIGHT = 20
/** Rows that are drawn beyond both edges of the view. */
const OVERSCAN = 12
/** So close to the end of a part, in rows, the next part is shown. */
const EDGE = 100

interface Props {
  log: LogStore
  /** The lines that match a filter; null for all of the log. */
  found: readonly LogLine[] | null
  place: LogPlace
  onPlace: (place: LogPlace) => void
  /** The line to bring into view. */
  chosen: number | null
  onChoose: (line: number) => void
}

/** The lines in view. */
export function LogLines({ log, found, place, onPlace, chosen, onChoose }: Props) {
  const version = useChanges(log.changes)
  const count = found === null ? log.count + log.partialLines.length : found.length
  const part = place === 'end' ? lastPart(count) : Math.min(place.part, lastPart(count))
  const frame = useRef<HTMLDivElement>(null)
  /** Where the frame was put, or was scrolled to. */
  const scrollTop = useRef(0)
  const rows = useVirtualizer({
    count: Math.min(PART, count - part),
    getScrollElement: () => frame.current,
    estimateSize: () => LINE_HEIGHT,
    overscan: OVERSCAN,
  })
  const items = rows.getVirtualItems()
  const first = part + (items[0]?.index ?? 0)
  const end = first + items.length

  // Lines of the view may be missing, and come later: so this asks again whenever some came.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  useEffect(() => {
    if (found === null) log.show(first, end)
  }, [log, found, first, end, version])

  const hasLines = found === null && log.count > 0
  useEffect(() => {
    if (chosen !== null && hasLines) onPlace(placeAt(chosen, log.count))
  }, [chosen, hasLines, log, onPlace])

  const followed = place === 'end' ? count : null
  // biome-ignore lint/correctness/useExhaustiveDependencies: a view at the end follows new lines
  useLayoutEffect(() => {
    const shown = frame.current
    if (shown === null) return
    if (place === 'end') rows.scrollToEnd()
    else if (!isInView(shown, place.row - part)) rows.scrollToIndex(place.row - part, { align: 'center' })
    scrollTop.current = shown.scrollTop
  }, [rows, place, part, followed])

  const onScroll = ({ currentTarget: shown }: UIEvent<HTMLDivElement>) => {
    const moved = shown.scrollTop - scrollTop.current
    // Less than a pixel: the frame is where it was put.
    if (Math.abs(moved) < 1) return
    scrollTop.current = shown.scrollTop
    const left = shown.scrollHeight - shown.clientHeight - shown.scrollTop
    const isAtEnd = part === lastPart(count) && left < LINE_HEIGHT
    if (isAtEnd) onPlace('end')
    else if (place === 'end' && moved < 0) onPlace({ row: part + rowInMiddle(shown), part })
  }

  const { isScrolling } = rows
  useEffect(() => {
    const shown = frame.current
    if (isScrolling || shown === null || place === 'end') return
    const middle = rowInMiddle(shown)
    const isAtBegin = middle < EDGE && part > 0
    const isAtEnd = middle > PART - EDGE && part < lastPart(count)
    if (isAtBegin || isAtEnd) onPlace(placeAt(part + middle, count))
  }, [isScrolling, place, part, count, onPlace])

  return (
    <div
      ref={frame}
      className="log"
      role="log"
      aria-label="Output"
      aria-live="off"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
      tabIndex={0}
      onScroll={onScroll}
      onKeyDown={(event) => {
        // Browsers scroll smoothly to where the end was when the key was pressed, and to the ends of a part.
        if (event.key === 'End') onPlace('end')
        else if (event.key === 'Home') onPlace(placeAt(0, count))
        else return
        event.preventDefault()
      }}
    >
      <div style={{ height: rows.getTotalSize() }}>
        <div className="log-lines" style={{ transform: `translateY(${items[0]?.start ?? 0}px)` }}>
          {items.map((item) => {
            const index = part + item.index
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

/** The index of the row in the middle of the view. */
const rowInMiddle = ({ scrollTop, clientHeight }: HTMLElement) =>
  Math.floor((scrollTop + clientHeight / 2) / LINE_HEIGHT)

/** Whether the row with this index in its part is in view as a whole. */
function isInView({ scrollTop, clientHeight }: HTMLElement, index: number): boolean {
  const top = index * LINE_HEIGHT
  return top >= scrollTop && top + LINE_HEIGHT <= scrollTop + clientHeight
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
