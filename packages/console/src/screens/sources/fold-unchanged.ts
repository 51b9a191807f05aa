import type { DiffLine } from './line-diff.ts'

interface Fold {
  hidden: number
}

/** Unchanged lines that stay visible before and after each change. */
const CONTEXT = 4

/** Replaces long runs of unchanged lines by their number. */
export function foldUnchanged(lines: readonly DiffLine[]): (DiffLine | Fold)[] {
  const changed = lines.flatMap(({ change }, index) => (change === 'same' ? [] : [index]))
  const isNearChange = new Set(
    changed.flatMap((index) => Array.from({ length: 2 * CONTEXT + 1 }, (_, step) => index - CONTEXT + step)),
  )
  const parts: (DiffLine | Fold)[] = []
  for (const [index, line] of lines.entries()) {
    const last = parts.at(-1)
    if (isNearChange.has(index)) parts.push(line)
    else if (last !== undefined && 'hidden' in last) last.hidden += 1
    else parts.push({ hidden: 1 })
  }
  return parts
}
