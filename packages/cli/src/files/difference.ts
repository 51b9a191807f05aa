import { isDeepStrictEqual } from 'node:util'

export interface Difference {
  path: string
  from: unknown
  to: unknown
  /** Whether neither value may be shown. */
  secret?: true
}

/** How the server shows a value that it hides. */
export const MASKED = '***'
const LINES_SHOWN = 20
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Where two values differ, field by field. What the server hides is taken for the same. */
export function differences(from: unknown, to: unknown, path = ''): Difference[] {
  if (from === MASKED || to === MASKED || isDeepStrictEqual(from, to)) return []
  if (isObject(from) && isObject(to)) {
    const keys = [...new Set([...Object.keys(from), ...Object.keys(to)])]
    return keys.flatMap((key) => differences(from[key], to[key], path === '' ? key : `${path}.${key}`))
  }
  if (Array.isArray(from) && Array.isArray(to) && from.length === to.length && to.some(isObject)) {
    return to.flatMap((item, n) => differences(from[n], item, `${path}[${n}]`))
  }
  return [{ path, from, to }]
}

/** A difference in lines for people; `hide` says which texts are not shown. */
export function differenceLines({ path, from, to, secret }: Difference, hide: (value: unknown) => boolean): string[] {
  if (secret || hide(from) || hide(to)) return [`${path}: ${MASKED}`]
  if (typeof from === 'string' && typeof to === 'string' && (from.includes('\n') || to.includes('\n'))) {
    return [`${path}:`, ...textLines(from, to)]
  }
  return [`${path}: ${short(from)} -> ${short(to)}`]
}

function short(value: unknown): string {
  if (value === undefined || value === null) return 'none'
  const text = JSON.stringify(value)
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}

/** The lines between what both texts begin and end with. */
function textLines(from: string, to: string): string[] {
  const [before, after] = [from.split('\n'), to.split('\n')]
  let start = 0
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1
  let end = 0
  const most = Math.min(before.length, after.length) - start
  while (end < most && before.at(-1 - end) === after.at(-1 - end)) end += 1
  const lines = [
    ...before.slice(start, before.length - end).map((line) => `  - ${line}`),
    ...after.slice(start, after.length - end).map((line) => `  + ${line}`),
  ]
  return lines.length > LINES_SHOWN
    ? [...lines.slice(0, LINES_SHOWN), `  and ${lines.length - LINES_SHOWN} more lines`]
    : lines
}
