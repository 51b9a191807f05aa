/** Selects fields of records by paths such as `connection.host`. A path through a list applies to each of its entries. */
export type Path = readonly string[]

export function parsePaths(text: string): Path[] {
  return text.split(',').flatMap((path) => (path.trim() === '' ? [] : [path.trim().split('.')]))
}

/** Returns undefined if the value has no such field. */
export function readField(value: unknown, path: Path): unknown {
  const [name, ...rest] = path
  if (name === undefined) return value
  if (Array.isArray(value)) {
    if (/^\d+$/.test(name)) return readField(value[Number(name)], rest)
    const found = value.map((one) => readField(one, path)).filter((one) => one !== undefined)
    return value.length > 0 && found.length === 0 ? undefined : found
  }
  if (typeof value !== 'object' || value === null) return undefined
  return Object.hasOwn(value, name) ? readField((value as Record<string, unknown>)[name], rest) : undefined
}

/** Returns the fields under their paths, such as `{"connection.host": "web-1"}`. */
export const pickFields = (value: unknown, paths: readonly Path[]): Record<string, unknown> =>
  Object.fromEntries(paths.map((path) => [path.join('.'), readField(value, path) ?? null]))

/** Returns the fields as text, separated by tabs. */
export const formatFields = (value: unknown, paths: readonly Path[]): string =>
  paths.map((path) => formatValue(readField(value, path))).join('\t')

export function formatValue(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (Array.isArray(value) && value.every((one) => typeof one !== 'object')) return value.join(' ')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

const NAMES = [
  'name',
  'email',
  'username',
  'id',
  'deployment_id',
  'pending_request_id',
  'target_name',
  'source_name',
  'message',
]

/** Returns what other commands accept for this record: its name, else its id. */
export function getRecordName(record: unknown): string {
  for (const field of NAMES) {
    const value = readField(record, [field])
    if (typeof value === 'string') return value
  }
  return JSON.stringify(record)
}
