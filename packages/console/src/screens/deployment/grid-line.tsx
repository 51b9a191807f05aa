// biome-ignore-all lint/a11y/useSemanticElements: a table cannot leave out the rows that are not in view
// biome-ignore-all lint/a11y/useFocusableInteractive: the grid has the focus and names its active cell
import { memo } from 'react'
import type { GridColumn, GridRow } from './grid-rows.ts'

const SIGNS: Record<string, string> = {
  pending: '·',
  running: '▶',
  completed: '✓',
  failed: '✗',
  cancelled: '⊘',
  skipped: '–',
  rolling_back: '↺',
  rolled_back: '↩',
  rollback_failed: '!',
}

interface Props {
  row: GridRow
  index: number
  /** In pixels below the first row. */
  top: number
  /** The states of its steps, in one text: the row is drawn again only when one of them has changed. */
  states: string
  /** The column of the active cell, if it is in this row. */
  active: number | null
  /** What its batch is called, if it is the first row of one. */
  batch: string | null
  columns: readonly GridColumn[]
}

export const cellId = (row: number, column: number) => `step-${row}-${column}`

/** One target with its steps. */
export const GridLine = memo(({ row, index, top, states, active, batch, columns }: Props) => {
  const shown = states.split(' ')
  return (
    <div
      className="grid-row"
      role="row"
      aria-rowindex={index + 2}
      data-batch={batch !== null || undefined}
      style={{ transform: `translateY(${top}px)` }}
    >
      <span className="grid-target" role="rowheader" title={row.target}>
        <span className="grid-target-name">{row.target}</span>
        {batch !== null && <span className="grid-batch">{batch}</span>}
      </span>
      {row.steps.map(({ id, action_name }, column) => {
        const state = shown[column] ?? ''
        return (
          <span
            key={id}
            id={cellId(index, column)}
            className="grid-step"
            role="gridcell"
            data-state={state}
            data-row={index}
            data-column={column}
            data-active={column === active || undefined}
            data-first={columns[column]?.isFirst || undefined}
            aria-label={`${row.target}, ${action_name}: ${state.replaceAll('_', ' ')}`}
          >
            {SIGNS[state] ?? '?'}
          </span>
        )
      })}
    </div>
  )
})
