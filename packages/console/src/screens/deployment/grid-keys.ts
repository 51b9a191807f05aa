import type { Cell } from './grid-rows.ts'

interface Size {
  rows: number
  columns: number
  /** Rows of one page. */
  page: number
}

/** The cell to which a key leads from this one, or null for other keys: arrows, Page Up and Down, Home and End. */
export function cellAfter({ key, ctrlKey }: { key: string; ctrlKey: boolean }, from: Cell, size: Size): Cell | null {
  const lastRow = size.rows - 1
  const lastColumn = size.columns - 1
  const moves: Record<string, Cell> = {
    ArrowUp: { ...from, row: from.row - 1 },
    ArrowDown: { ...from, row: from.row + 1 },
    ArrowLeft: { ...from, column: from.column - 1 },
    ArrowRight: { ...from, column: from.column + 1 },
    PageUp: { ...from, row: from.row - size.page },
    PageDown: { ...from, row: from.row + size.page },
    Home: { row: ctrlKey ? 0 : from.row, column: 0 },
    End: { row: ctrlKey ? lastRow : from.row, column: lastColumn },
  }
  const to = moves[key]
  if (to === undefined) return null
  return {
    row: Math.min(Math.max(0, to.row), lastRow),
    column: Math.min(Math.max(0, to.column), lastColumn),
  }
}
