const columnOf = (sort: string) => sort.replace(/^-/, '')
const reversed = (sort: string) => (sort.startsWith('-') ? sort.slice(1) : `-${sort}`)

/** How the rows are sorted by a column; null if they are sorted by another one. `current` is as the API writes it. */
export function directionOf(sort: string, current: string | undefined): 'ascending' | 'descending' | null {
  if (current === undefined || columnOf(current) !== columnOf(sort)) return null
  return current.startsWith('-') ? 'descending' : 'ascending'
}

/** What a click on the head of a column asks for: its own first direction, then the other one, then the usual order. */
export function nextSort(sort: string, current: string | undefined): string | undefined {
  if (current === sort) return reversed(sort)
  return current === reversed(sort) ? undefined : sort
}

/** The sort of an address for the query of a list. What the list cannot sort by is left out. */
export function sortQuery<C extends string>(columns: readonly C[], asked: string | undefined): { sort?: C | `-${C}` } {
  const column = columns.find((one) => asked === one || asked === `-${one}`)
  if (column === undefined) return {}
  return { sort: asked === column ? column : `-${column}` }
}
