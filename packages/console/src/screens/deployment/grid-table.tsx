// biome-ignore-all lint/a11y/useSemanticElements: a table cannot leave out the rows that are not in view
// biome-ignore-all lint/a11y/useFocusableInteractive: the grid has the focus and names its active cell
import { defaultRangeExtractor, type Range, useVirtualizer } from '@tanstack/react-virtual'
import { type KeyboardEvent, type MouseEvent, useCallback, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import './grid.css'
import { type Cell, cellAfter } from './grid-keys.ts'
import { cellId, GridLine } from './grid-line.tsx'
import type { GridRow, Step } from './grid-rows.ts'

/** As in grid.css. */
const ROW_HEIGHT = 26
const HEAD_HEIGHT = 28
/** With more columns than this their names stand upright above narrow cells. */
const MANY_COLUMNS = 8
const UPRIGHT_HEAD_HEIGHT = 120
/** Rows that are drawn beyond both edges of the view. */
const OVERSCAN = 12

interface Props {
  rows: readonly GridRow[]
  columns: readonly string[]
  stateOf: (step: Step) => string
  onOpen: (step: Step) => void
}

/** Only the rows in view are drawn, so that 10,000 targets are no more work than fifty. */
export function GridTable({ rows, columns, stateOf, onOpen }: Props) {
  const isDense = columns.length > MANY_COLUMNS
  const head = isDense ? UPRIGHT_HEAD_HEIGHT : HEAD_HEIGHT
  const [active, setActive] = useState<Cell>({ row: 0, column: 0 })
  const frame = useRef<HTMLDivElement>(null)
  // The row of the active cell is always drawn, because the grid names this cell to screen readers.
  const rangeExtractor = useCallback(
    (range: Range) => {
      const inView = defaultRangeExtractor(range)
      if (active.row >= range.count || inView.includes(active.row)) return inView
      return [...inView, active.row].sort((a, b) => a - b)
    },
    [active.row],
  )
  const view = useVirtualizer({
    count: rows.length,
    getScrollElement: () => frame.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: OVERSCAN,
    scrollMargin: head,
    rangeExtractor,
  })

  const open = ({ row, column }: Cell) => {
    setActive({ row, column })
    const step = rows[row]?.steps[column]
    if (step) onOpen(step)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' || event.key === ' ') open(active)
    else {
      const page = Math.floor((event.currentTarget.clientHeight - head) / ROW_HEIGHT)
      const next = cellAfter(event, active, { rows: rows.length, columns: columns.length, page })
      if (next === null) return
      flushSync(() => setActive(next))
      const cell = document.getElementById(cellId(next.row, next.column))
      cell?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
    }
    event.preventDefault()
  }
  const onClick = ({ target }: MouseEvent) => {
    const { row, column } = target instanceof HTMLElement ? target.dataset : {}
    if (row !== undefined) open({ row: Number(row), column: Number(column) })
  }

  return (
    <div
      ref={frame}
      className="grid"
      role="grid"
      aria-label="Steps of each target"
      aria-rowcount={rows.length + 1}
      aria-activedescendant={active.row < rows.length ? cellId(active.row, active.column) : undefined}
      tabIndex={0}
      data-dense={isDense || undefined}
      onKeyDown={onKeyDown}
      onClick={onClick}
    >
      <div className="grid-row grid-head" role="row" aria-rowindex={1} style={{ height: head }}>
        <span className="grid-target" role="columnheader">
          Target
        </span>
        {columns.map((name, index) => (
          <span
            // biome-ignore lint/suspicious/noArrayIndexKey: the columns of a plan never change
            key={index}
            className="grid-name"
            role="columnheader"
            title={name}
          >
            {name}
          </span>
        ))}
      </div>
      <div className="grid-rows" role="rowgroup" style={{ height: view.getTotalSize() }}>
        {view.getVirtualItems().map(({ index, start }) => {
          const row = rows[index]
          return (
            row && (
              <GridLine
                key={index}
                row={row}
                index={index}
                top={start - head}
                states={row.steps.map(stateOf).join(' ')}
                active={index === active.row ? active.column : null}
              />
            )
          )
        })}
      </div>
    </div>
  )
}
