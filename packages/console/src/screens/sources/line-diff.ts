import { structuredPatch } from 'diff'

/** Unchanged lines that stay visible before and after each change. */
const CONTEXT = 4
/** Two definitions with more changes than this have nothing in common. To search for more takes seconds. */
const MAX_CHANGES = 1_000

/** A line after its sign (a space, - or +), or how many unchanged lines are left out. */
export type DiffPart = string | { hidden: number }

const asText = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join('')

/** The lines that differ, and some around them. Empty if no line differs. */
export function diffLines(before: readonly string[], after: readonly string[]): DiffPart[] {
  const options = { context: CONTEXT, maxEditLength: MAX_CHANGES }
  const patch = structuredPatch('', '', asText(before), asText(after), '', '', options)
  if (patch === undefined) return [...before.map((line) => `-${line}`), ...after.map((line) => `+${line}`)]
  if (patch.hunks.length === 0) return []
  const parts: DiffPart[] = []
  let shown = 0
  const hideUntil = (line: number) => {
    if (line > shown) parts.push({ hidden: line - shown })
  }
  for (const { oldStart, oldLines, lines } of patch.hunks) {
    hideUntil(oldStart - 1)
    parts.push(...lines)
    shown = oldStart - 1 + oldLines
  }
  hideUntil(before.length)
  return parts
}
