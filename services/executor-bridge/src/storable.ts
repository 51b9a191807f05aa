// Postgres refuses NUL and half a surrogate pair. Instances replace both. This is for instances that do not.
const UNSTORABLE = /\0|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g
const MAYBE_ESCAPED = /\\u(0000|d[89ab][0-9a-f]{2}|d[c-f][0-9a-f]{2})/i

export const storableText = (text: string): string => text.replace(UNSTORABLE, '\ufffd')

/** JSON for a jsonb column. Checks the values only if the text may contain such characters. */
export function storableJson(value: unknown): string {
  const json = JSON.stringify(value)
  return MAYBE_ESCAPED.test(json) ? JSON.stringify(mend(value)) : json
}

function mend(value: unknown): unknown {
  if (typeof value === 'string') return storableText(value)
  if (Array.isArray(value)) return value.map(mend)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [storableText(key), mend(entry)]))
}
