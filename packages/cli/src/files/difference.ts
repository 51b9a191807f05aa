import { isDeepStrictEqual } from 'node:util'

export interface Difference {
  path: string
  from: unknown
  to: unknown
  /** True if output must not show the values. */
  secret?: true
}

/** The text that the server returns in place of a secret. */
export const MASKED = '***'
const MAX_LINES_SHOWN = 20
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Compares two values field by field. A masked value counts as equal to any other value. */
export function compareValues(from: unknown, to: unknown, path = ''): Difference[] {
  if (from === MASKED || to === MASKED || isDeepStrictEqual(from, to)) return []
  if (isObject(from) && isObject(to)) {
    const keys = [...new Set([...Object.keys(from), ...Object.keys(to)])]
    return keys.flatMap((key) => compareValues(from[key], to[key], path === '' ? key : `${path}.${key}`))
  }
  if (Array.isArray(from) && Array.isArray(to) && from.length === to.length && to.some(isObject)) {
    return to.flatMap((item, n) => compareValues(from[n], item, `${path}[${n}]`))
  }
  return [{ path, from, to }]
}

/** Returns a difference as lines for people. Values for which `hide` returns true are masked. */
export function formatDifference({ path, from, to, secret }: Difference, hide: (value: unknown) => boolean): string[] {
  if (secret || hide(from) || hide(to)) return [`${path}: ${MASKED}`]
  if (typeof from === 'string' && typeof to === 'string' && (from.includes('\n') || to.includes('\n'))) {
    return [`${path}:`, ...formatTextDifference(from, to)]
  }
  return [`${path}: ${formatValue(from)} -> ${formatValue(to)}`]
}

function formatValue(value: unknown): string {
  if (value === undefined || value === null) return 'none'
  const text = JSON.stringify(value)
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}

/** Returns the changed lines: all lines between the common start and the common end. */
function formatTextDifference(from: string, to: string): string[] {
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
  return lines.length > MAX_LINES_SHOWN
    ? [...lines.slice(0, MAX_LINES_SHOWN), `  and ${lines.length - MAX_LINES_SHOWN} more lines`]
    : lines
}
