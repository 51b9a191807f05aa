import type { StoredLine } from '@slipway/contracts'

export interface NumberedLine extends StoredLine {
  number: number
}

export interface LogPage {
  lines: NumberedLine[]
  /** The number of the line at which the next page begins. */
  next: number
}

/** The matching lines in some chunks, and the edge of these chunks: see `searchLines`. */
interface Found {
  found: NumberedLine[]
  reached: number | null
}

interface Search {
  from: number
  /** The number after the last line of the log. */
  end: number
  limit: number
  look(part: { line: number; chunks: number; limit: number }): Promise<Found>
  hasTime(): boolean
}

/** Chunks of a statement: few at first, because a page of common words is full soon. 32 MiB or 64,000 lines are the most. */
const FIRST_CHUNKS = 2
const MAX_CHUNKS = 32

/** Looks through the log for one page: until the page is full, the log ends, or the time is over. Each page gets further. */
export async function searchLog({ from, end, limit, look, hasTime }: Search): Promise<LogPage> {
  const lines: NumberedLine[] = []
  let next = from
  for (let chunks = FIRST_CHUNKS; next < end; chunks = Math.min(chunks * 2, MAX_CHUNKS)) {
    const { found, reached } = await look({ line: next, chunks, limit: limit - lines.length })
    lines.push(...found)
    const last = found.at(-1)
    if (last !== undefined && lines.length >= limit) return { lines, next: last.number + 1 }
    // Retention may drop the lines during the search.
    if (reached === null || reached <= next) return { lines, next: end }
    next = reached
    if (!hasTime()) break
  }
  return { lines, next }
}

/** The same backward, from the line before `before`. `next` is where the page before this one ends. */
export async function searchLogBefore({
  before,
  first,
  limit,
  look,
  hasTime,
}: Omit<Search, 'from' | 'end'> & { before: number; first: number }): Promise<LogPage> {
  const lines: NumberedLine[] = []
  let next = before
  for (let chunks = FIRST_CHUNKS; next > first; chunks = Math.min(chunks * 2, MAX_CHUNKS)) {
    const { found, reached } = await look({ line: next, chunks, limit: limit - lines.length })
    lines.unshift(...found)
    const [earliest] = lines
    if (earliest !== undefined && lines.length >= limit) return { lines, next: earliest.number }
    if (reached === null || reached >= next) return { lines, next: first }
    next = Math.max(reached, first)
    if (!hasTime()) break
  }
  // Retention may have dropped the lines before `before` meanwhile.
  return { lines, next: Math.max(next, first) }
}
