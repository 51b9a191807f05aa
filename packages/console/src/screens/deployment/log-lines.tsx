import { useVirtualizer } from '@tanstack/react-virtual'
import { type CSSProperties, memo, type RefObject, type UIEvent, useEffect, useLayoutEffect, useRef } from 'react'
import { useChanges } from './changes.ts'
import './log.css'
import type { LogColumn, LogContext } from './log-columns.ts'
import { textOf } from './log-copy.ts'
import { type LogPlace, lastPart, PART, placeAt, WRAPPED_PART } from './log-place.ts'
import type { LogLine } from './log-reads.ts'
import { LogRow, PartialRow } from './log-row.tsx'
import { copySelection } from './log-selection.ts'
import type { LogStore } from './log-store.ts'
import { indexOf } from './match-order.ts'

/** As in log.css. Wrapped lines are at least as high. */
const LINE_HEIGHT = 20
/** Rows that are drawn beyond both edges of the view. */
const OVERSCAN = 12
/** So close to the end of a part, in rows, the next part is shown. */
const EDGE = 100
/** Longer names of targets are cut, in characters. */
const MAX_TARGET = 32

interface Props {
  log: LogStore
  /** The lines that match a filter; null for all of the log. */
  found: readonly LogLine[] | null
  /** Its matches are marked. */
  search: string | undefined
  isWrapped: boolean
  columns: readonly LogColumn[]
  context: LogContext
  place: LogPlace
  onPlace: (place: LogPlace) => void
  /** The row in the middle of the view. */
  middle: RefObject<number>
  /** The number of the line to bring into view. */
  chosen: number | null
  onChoose: (number: number) => void
}

/** The lines in view. */
export const LogLines = memo((props: Props) => {
  const { log, found, search, isWrapped, columns, context, place, onPlace, middle, chosen, onChoose } = props
  const version = useChanges(log.changes)
  const size = isWrapped ? WRAPPED_PART : PART
  const count = found === null ? log.count + log.partialLines.length : found.length
  const part = place === 'end' ? lastPart(count, size) : Math.min(place.part, lastPart(count, size))
  const frame = useRef<HTMLDivElement>(null)
  /** Where the frame was put, or was scrolled to. */
  const scrollTop = useRef(0)
  const rows = useVirtualizer({
    count: Math.min(size, count - part),
    getScrollElement: () => frame.current,
    estimateSize: () => LINE_HEIGHT,
    overscan: OVERSCAN,
  })
  const items = rows.getVirtualItems()
  const first = part + (items[0]?.index ?? 0)
  const end = first + items.length
  const lineAt = (row: number) => (found === null ? log.line(row) : found[row])

  // Lines of the view may be missing, and come later: so this asks again whenever some came.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  useEffect(() => {
    if (found === null) log.show(first, end)
  }, [log, found, first, end, version])

  const isWhole = found === null
  const hasLines = count > 0
  const wanted = found === null ? chosen : indexOf(found, chosen)
  // biome-ignore lint/correctness/useExhaustiveDependencies: more lines do not move the view
  useEffect(() => {
    if (wanted !== null && hasLines) onPlace(placeAt(wanted, count, size))
  }, [wanted, isWhole, hasLines, size, log, onPlace])

  const followed = place === 'end' ? count : null
  // biome-ignore lint/correctness/useExhaustiveDependencies: a view at the end follows new lines
  useLayoutEffect(() => {
    const shown = frame.current
    if (shown === null) return
    if (place === 'end') rows.scrollToEnd()
    else if (!isInView(shown, rows.measurementsCache[place.row - part])) {
      rows.scrollToIndex(place.row - part, { align: 'center' })
    }
    scrollTop.current = shown.scrollTop
  }, [rows, place, part, followed])

  const rowInMiddle = (shown: HTMLElement) =>
    rows.getVirtualItemForOffset(shown.scrollTop + shown.clientHeight / 2)?.index ?? 0
  const onScroll = ({ currentTarget: shown }: UIEvent<HTMLDivElement>) => {
    middle.current = part + rowInMiddle(shown)
    shown.toggleAttribute('data-sideways', shown.scrollLeft > 0)
    const moved = shown.scrollTop - scrollTop.current
    // Less than a pixel: the frame is where it was put.
    if (Math.abs(moved) < 1) return
    scrollTop.current = shown.scrollTop
    const left = shown.scrollHeight - shown.clientHeight - shown.scrollTop
    const isAtEnd = part === lastPart(count, size) && left < LINE_HEIGHT
    if (isAtEnd) onPlace('end')
    else if (place === 'end' && moved < 0) onPlace({ row: part + rowInMiddle(shown), part })
  }

  const { isScrolling } = rows
  // biome-ignore lint/correctness/useExhaustiveDependencies: it looks at the middle when the scrolling has ended
  useEffect(() => {
    const shown = frame.current
    if (isScrolling || shown === null || place === 'end') return
    const row = rowInMiddle(shown)
    const isAtBegin = row < EDGE && part > 0
    const isAtEnd = row > size - EDGE && part < lastPart(count, size)
    if (isAtBegin || isAtEnd) onPlace(placeAt(part + row, count, size))
  }, [isScrolling, place, part, size, count, onPlace])

  const textOfRows = (first: number, last: number) => {
    const lines = Array.from({ length: last - first + 1 }, (_, index) => lineAt(first + index))
    return textOf(
      lines.filter((line) => line !== undefined),
      columns,
      context,
    )
  }
  const widths = {
    '--number-width': `${Math.max(5, String(log.count).length) + 1}ch`,
    '--target-width': `calc(${Math.min(context.targetLength, MAX_TARGET)}ch + 12px)`,
  } as CSSProperties

  return (
    <div
      ref={frame}
      className="log"
      role="log"
      aria-label="Output"
      aria-live="off"
      data-wrapped={isWrapped || undefined}
      style={widths}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
      tabIndex={0}
      onCopy={(event) => copySelection(event, textOfRows)}
      onScroll={onScroll}
      onKeyDown={(event) => {
        // Browsers scroll smoothly to where the end was when the key was pressed, and to the ends of a part.
        if (event.key === 'End') onPlace('end')
        else if (event.key === 'Home') onPlace(placeAt(0, count, size))
        else return
        event.preventDefault()
      }}
    >
      <div style={{ height: rows.getTotalSize() }}>
        <div className="log-lines" style={{ transform: `translateY(${items[0]?.start ?? 0}px)` }}>
          {items.map((item) => {
            const row = part + item.index
            const shown = {
              index: item.index,
              row,
              measure: isWrapped ? rows.measureElement : undefined,
              columns,
              context,
            }
            const partial = isWhole ? log.partialLines[row - log.count] : undefined
            if (partial !== undefined) return <PartialRow key={row} line={partial} {...shown} />
            const line = lineAt(row)
            const number = line?.number ?? row
            return (
              <LogRow
                key={row}
                number={number}
                line={line}
                search={search}
                isChosen={number === chosen}
                onChoose={onChoose}
                {...shown}
              />
            )
          })}
        </div>
      </div>
    </div>
  )
})

/** Whether all of a row is in view. */
function isInView({ scrollTop, clientHeight }: HTMLElement, row: { start: number; end: number } | undefined): boolean {
  return row !== undefined && row.start >= scrollTop && row.end <= scrollTop + clientHeight
}
