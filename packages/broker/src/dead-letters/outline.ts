import { validateBody } from '@slipway/contracts'
import { printable } from './letter.ts'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
/** Fields with words of the contracts, in a body that fits the contracts. */
const WORDS = new Set(['state', 'status', 'outcome', 'target_mode', 'failure_strategy', 'rollback_strategy'])
/** Fields with values of users, and sealed fields: not even their numbers are shown. */
const VALUES = /variables|values|secret|token|passw|credential|key$|^sealed/
const MAX_ITEMS = 20
const MAX_DEPTH = 8

/**
 * The body of a message for operators: ids, numbers and words of the contracts. Other texts are shown by their length, because
 * a dead message may hold anything.
 */
export function outline(type: string, content: Buffer): unknown {
  let body: unknown
  try {
    body = JSON.parse(content.toString('utf8'))
  } catch {
    return `[no JSON, ${content.length} bytes]`
  }
  return outlined(body, { key: '', depth: 0, valid: validateBody(type, body).length === 0 })
}

function outlined(value: unknown, at: { key: string; depth: number; valid: boolean }): unknown {
  const { key, depth, valid } = at
  if (VALUES.test(key) && value !== null) return `[${sizeOf(value)}, not shown]`
  if (typeof value === 'string') {
    const known = UUID.test(value) || (valid && WORDS.has(key))
    return known ? printable(value) : `[${sizeOf(value)}]`
  }
  if (typeof value !== 'object' || value === null) return value
  if (depth === MAX_DEPTH) return `[${sizeOf(value)}]`
  const inside = (item: unknown, name: string) => outlined(item, { key: name, depth: depth + 1, valid })
  if (Array.isArray(value)) {
    const items = value.slice(0, MAX_ITEMS).map((item) => inside(item, key))
    return value.length > MAX_ITEMS ? [...items, `[${value.length - MAX_ITEMS} more]`] : items
  }
  const entries = Object.entries(value)
  const shown = entries.slice(0, MAX_ITEMS).map(([name, item]) => [printable(name).slice(0, 60), inside(item, name)])
  if (entries.length > MAX_ITEMS) shown.push(['…', `[${entries.length - MAX_ITEMS} more]`])
  return Object.fromEntries(shown)
}

function sizeOf(value: unknown): string {
  if (typeof value === 'string') return `text, ${value.length} characters`
  if (Array.isArray(value)) return `${value.length} items`
  return typeof value === 'object' && value !== null ? `${Object.keys(value).length} fields` : typeof value
}
