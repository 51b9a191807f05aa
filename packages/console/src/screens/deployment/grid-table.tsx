// biome-ignore-all lint/a11y/useSemanticElements: a table cannot leave out the rows that are not in view
// biome-ignore-all lint/a11y/useFocusableInteractive: the grid has the focus and names its active cell
import { useElementSize, useMergedRef } from '@mantine/hooks'
import { defaultRangeExtractor, type Range, useVirtualizer } from '@tanstack/react-virtual'
import { type CSSProperties, type KeyboardEvent, type MouseEvent, useCallback, useLayoutEffect, useRef } from 'react'
import './grid.css'
import { cellAfter } from './grid-keys.ts'
import { cellId, GridLine } from './grid-line.tsx'
import type { Cell, GridColumn, GridRow, Step } from './grid-rows.ts'
import { gridWidths } from './grid-widths.ts'

/** As in grid.css. */
const ROW_HEIGHT = 26
/** Rows that are drawn beyond both edges of the view. */
const OVERSCAN = 12

interface Props {
  rows: readonly GridRow[]
  columns: readonly GridColumn[]
  /** How many batches there are. */
  batches: number
  stateOf: (step: Step) => string
  active: Cell
  onActive: (cell: Cell) => void
  onOpen: (step: Step) => void
}

/** Only the rows in view are drawn, so that 10,000 targets are no more work than fifty. */
export function GridTable({ rows, columns, batches, stateOf, active, onActive, onOpen }: Props) {
  const frame = useRef<HTMLDivElement>(null)
  const { ref: sized, width } = useElementSize<HTMLDivElement>()
  const { isDense, head, target } = gridWidths(rows, columns, width)
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

  const shown = useRef(active)
  useLayoutEffect(() => {
    if (shown.current === active) return
    shown.current = active
    const cell = document.getElementById(cellId(active.row, active.column))
    cell?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [active])

  const open = (cell: Cell) => {
    onActive(cell)
    const step = rows[cell.row]?.steps[cell.column]
    if (step) onOpen(step)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' || event.key === ' ') open(active)
    else {
      const page = Math.floor((event.currentTarget.clientHeight - head) / ROW_HEIGHT)
      const next = cellAfter(event, active, { rows: rows.length, columns: columns.length, page })
      if (next === null) return
      onActive(next)
    }
    event.preventDefault()
  }
  const onClick = ({ target }: MouseEvent) => {
    const { row, column } = target instanceof HTMLElement ? target.dataset : {}
    if (row !== undefined) open({ row: Number(row), column: Number(column) })
  }

  return (
    <div
      ref={useMergedRef(frame, sized)}
      className="grid"
      role="grid"
      aria-label="Steps of each target"
      aria-rowcount={rows.length + 1}
      aria-activedescendant={active.row < rows.length ? cellId(active.row, active.column) : undefined}
      tabIndex={0}
      data-dense={isDense || undefined}
      style={{ '--target-width': `${target}px`, '--head-height': `${head}px` } as CSSProperties}
      onKeyDown={onKeyDown}
      onClick={onClick}
    >
      <div className="grid-row grid-head" role="row" aria-rowindex={1}>
        <span className="grid-target" role="columnheader">
          Target
        </span>
        {columns.map(({ name, sequence, isFirst }, index) => (
          <span
            // biome-ignore lint/suspicious/noArrayIndexKey: the columns of a plan never change
            key={index}
            className="grid-name"
            role="columnheader"
            title={`${sequence}: ${name}`}
            data-first={isFirst || undefined}
          >
            <span className="grid-name-text">{name}</span>
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
                batch={row.batch === rows[index - 1]?.batch ? null : batchName(row, batches)}
                columns={columns}
              />
            )
          )
        })}
      </div>
    </div>
  )
}

const batchName = ({ batch }: GridRow, batches: number) => (batch === null ? null : `Batch ${batch} of ${batches}`)
