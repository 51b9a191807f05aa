export interface DiffLine {
  change: 'same' | 'removed' | 'added'
  text: string
}

/** Cells of the table of common subsequences. Above this size, all lines between the common ends count as changed. */
const MAX_CELLS = 4_000_000

/** The lines of `before` and `after` in one list, by their longest common subsequence. */
export function diffLines(before: readonly string[], after: readonly string[]): DiffLine[] {
  const head = commonHead(before, after)
  const tail = commonTail(before.slice(head), after.slice(head))
  const removed = before.slice(head, before.length - tail)
  const added = after.slice(head, after.length - tail)
  return [
    ...mark('same', before.slice(0, head)),
    ...diffMiddle(removed, added),
    ...mark('same', before.slice(before.length - tail)),
  ]
}

const mark = (change: DiffLine['change'], lines: readonly string[]): DiffLine[] =>
  lines.map((text) => ({ change, text }))

function commonHead(a: readonly string[], b: readonly string[]): number {
  let count = 0
  while (count < a.length && count < b.length && a[count] === b[count]) count += 1
  return count
}

function commonTail(a: readonly string[], b: readonly string[]): number {
  let count = 0
  while (count < a.length && count < b.length && a.at(-1 - count) === b.at(-1 - count)) count += 1
  return count
}

function diffMiddle(before: readonly string[], after: readonly string[]): DiffLine[] {
  const width = after.length + 1
  if ((before.length + 1) * width > MAX_CELLS) return [...mark('removed', before), ...mark('added', after)]
  const lengths = commonLengths(before, after, width)
  const common = (i: number, j: number) => lengths[i * width + j] ?? 0
  const lines: DiffLine[] = []
  let i = 0
  let j = 0
  while (i < before.length || j < after.length) {
    const [old, now] = [before[i], after[j]]
    if (old !== undefined && old === now) {
      lines.push({ change: 'same', text: old })
      i += 1
      j += 1
    } else if (old !== undefined && (now === undefined || common(i + 1, j) >= common(i, j + 1))) {
      lines.push({ change: 'removed', text: old })
      i += 1
    } else if (now !== undefined) {
      lines.push({ change: 'added', text: now })
      j += 1
    }
  }
  return lines
}

/** At `i * width + j`: the length of the longest common subsequence of `before` from `i` and `after` from `j`. */
function commonLengths(before: readonly string[], after: readonly string[], width: number): Uint32Array {
  const lengths = new Uint32Array((before.length + 1) * width)
  for (let i = before.length - 1; i >= 0; i -= 1) {
    for (let j = after.length - 1; j >= 0; j -= 1) {
      const at = i * width + j
      lengths[at] =
        before[i] === after[j]
          ? (lengths[at + width + 1] ?? 0) + 1
          : Math.max(lengths[at + width] ?? 0, lengths[at + 1] ?? 0)
    }
  }
  return lengths
}
