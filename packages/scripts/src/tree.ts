import type { Node } from 'web-tree-sitter'
import type { Placeholder } from './placeholders.ts'

/** What a language says of the nodes around a template. */
export interface Rules<Context> {
  /** The context of the outermost node. */
  start: Context
  /** The context inside of a child. */
  enter(context: Context, parent: Node, child: Node, index: number): Context
  /** Called with the innermost node that contains the template. */
  found(context: Context, node: Node, placeholder: Placeholder): void
}

interface Frame<Context> {
  node: Node
  context: Context
  /** The templates inside of the node: a range of the sorted list. */
  from: number
  to: number
}

/** Visits only nodes that contain a template, each once: the work is linear in the size of the script. */
export function visit<Context>(root: Node, placeholders: readonly Placeholder[], rules: Rules<Context>): void {
  const frames: Frame<Context>[] = [{ node: root, context: rules.start, from: 0, to: placeholders.length }]
  for (let frame = frames.pop(); frame !== undefined; frame = frames.pop()) {
    const { node, context, to } = frame
    let { from } = frame
    for (const [index, child] of node.children.entries()) {
      if (from === to) break
      if (child === null) continue
      while (from < to && (placeholders[from]?.start ?? 0) < child.startIndex) found(from++)
      const end = firstBehind(placeholders, child.endIndex, from, to)
      if (end > from) {
        frames.push({ node: child, context: rules.enter(context, node, child, index), from, to: end })
        from = end
      }
    }
    while (from < to) found(from++)

    function found(index: number): void {
      const placeholder = placeholders[index]
      if (placeholder !== undefined) rules.found(context, node, placeholder)
    }
  }
}

/** The index of the first template that does not end before the position. */
function firstBehind(placeholders: readonly Placeholder[], position: number, from: number, to: number): number {
  let [low, high] = [from, to]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((placeholders[middle]?.end ?? 0) <= position) low = middle + 1
    else high = middle
  }
  return low
}

/** Whether an odd number of backslashes stands before the position. */
export function isBehindBackslash(text: string, position: number): boolean {
  let count = 0
  while (text[position - 1 - count] === '\\') count += 1
  return count % 2 === 1
}

/** Whether two objects are one node. The ids of small nodes are not unique. */
export const isSame = (node: Node, other: Node | null): boolean =>
  other !== null && node.type === other.type && node.startIndex === other.startIndex && node.endIndex === other.endIndex

/** The first place that the grammar does not understand, or null. */
export function firstError(root: Node): Node | null {
  let node = root
  while (node.hasError) {
    const next = node.children.find((child) => child !== null && (child.hasError || child.isError || child.isMissing))
    if (next === undefined || next === null) return node
    if (next.isError || next.isMissing) return next
    node = next
  }
  return null
}
