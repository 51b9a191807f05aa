import type { GridColumn, GridRow } from './grid-rows.ts'

/** Of the text in the grid, on average. */
const CHARACTER = 7
/** In a narrower column a name cannot be read. */
const READABLE = 84
const MAX_TARGET = 420
/** Beside the name of a target stands its batch. */
const BATCH = 110
const [ONE_LINE, THREE_LINES] = [28, 62]
const [MIN_UPRIGHT, MAX_UPRIGHT] = [80, 180]
/** Before the width is known, and for columns that do not fit. */
const MANY_COLUMNS = 8

interface GridWidths {
  /** Whether the names stand upright above narrow cells, because there are too many columns. */
  isDense: boolean
  /** The height of the names. */
  head: number
  /** The width of the names of targets. */
  target: number
}

/** How the grid uses its width, in pixels. */
export function gridWidths(rows: readonly GridRow[], columns: readonly GridColumn[], width: number): GridWidths {
  const hasBatches = rows[0]?.batch != null
  const wanted = longest(rows.map(({ target }) => target)) * CHARACTER + 16 + (hasBatches ? BATCH : 0)
  const target = Math.round(Math.max(96, Math.min(wanted, MAX_TARGET, (width || 600) * 0.36)))
  const room = (width - target) / columns.length
  const name = longest(columns.map(({ name }) => name)) * CHARACTER + 8
  const isDense = width === 0 ? columns.length > MANY_COLUMNS : room < READABLE && columns.length > 3
  if (isDense) return { isDense, head: Math.max(MIN_UPRIGHT, Math.min(name, MAX_UPRIGHT)), target }
  return { isDense, head: name > Math.max(room, READABLE) ? THREE_LINES : ONE_LINE, target }
}

const longest = (names: readonly string[]) => names.reduce((most, { length }) => Math.max(most, length), 0)
