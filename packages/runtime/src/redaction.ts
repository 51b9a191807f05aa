import { types } from 'node:util'

const SECRET_KEY =
  /authori[sz]ation|passw(or)?d|passphrase|secret|token|private_?key|credential|cookie|api_?key|encryption_?key|jwt_?key/i
const URL_PASSWORD = /([a-z][a-z0-9+.-]*:\/\/[^\s:@/]*):[^\s@/]+@/gi
const MAX_DEPTH = 8
const MAX_TEXT = 16_384

const REDACTED = '[redacted]'

/** Copies a value for a log line: without secrets, with the fields of errors, and with limited size and depth. */
export function loggable(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return redactText(value)
  if (typeof value === 'bigint') return value.toString()
  if (typeof value === 'function' || typeof value === 'symbol') return undefined
  if (typeof value !== 'object' || value === null) return value
  if (depth >= MAX_DEPTH) return '[too deep]'
  if (value instanceof Error || types.isNativeError(value)) return loggableError(value, depth)
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString()
  if (value instanceof Uint8Array) return `[${value.byteLength} bytes]`
  if (value instanceof Map) return loggable(Object.fromEntries(value), depth)
  if (value instanceof Set) return loggable([...value], depth)
  if (Array.isArray(value)) return value.map((item) => loggable(item, depth + 1))
  const copy: Record<string, unknown> = {}
  for (const [key, item] of Object.entries(value)) copy[key] = loggableField(key, item, depth + 1)
  return copy
}

/** Like `loggable` for a named field. If the name looks like a secret, shows only null and booleans. */
export function loggableField(key: string, value: unknown, depth = 0): unknown {
  const isHarmless = value === undefined || value === null || typeof value === 'boolean'
  return SECRET_KEY.test(key) && !isHarmless ? REDACTED : loggable(value, depth)
}

/** Cuts a long text and removes passwords in URLs. */
export function redactText(text: string): string {
  const short = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text
  return short.includes('://') ? short.replace(URL_PASSWORD, `$1:${REDACTED}@`) : short
}

function loggableError(error: Error, depth: number): Record<string, unknown> {
  const code = (error as { code?: unknown }).code
  const causes = error instanceof AggregateError ? error.errors.slice(0, 10) : undefined
  return {
    name: error.name,
    message: redactText(error.message),
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    stack: redactText(error.stack ?? ''),
    ...(error.cause === undefined ? {} : { cause: loggable(error.cause, depth + 1) }),
    ...(causes === undefined ? {} : { errors: loggable(causes, depth + 1) }),
  }
}
