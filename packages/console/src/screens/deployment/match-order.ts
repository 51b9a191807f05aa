import type { LogLine } from './log-reads.ts'

type Numbered = Pick<LogLine, 'number'>

/** The index of the first of these lines that is at or after a number. */
function indexFrom(lines: readonly Numbered[], number: number): number {
  let [low, high] = [0, lines.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((lines[middle]?.number ?? number) < number) low = middle + 1
    else high = middle
  }
  return low
}

/** The index of the line with this number among lines in order; null if it is not one of them. */
export function indexOf(lines: readonly Numbered[], number: number | null): number | null {
  if (number === null) return null
  const index = indexFrom(lines, number)
  return lines[index]?.number === number ? index : null
}

/** The number of the match after a line, or before it; at the end the search begins anew. Without a line: the first or last match. */
export function matchBeside(lines: readonly Numbered[], number: number | null, step: 1 | -1): number | undefined {
  const after = step === 1 ? indexFrom(lines, (number ?? -1) + 1) : indexFrom(lines, number ?? Infinity) - 1
  return lines[(after + lines.length) % lines.length]?.number
}
