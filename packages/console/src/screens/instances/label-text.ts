/** A label without a value stands for any value. */
export const labelText = ([key, value]: readonly [string, string | null]): string =>
  value === null ? key : `${key}=${value}`

export function parseLabel(text: string): [string, string | null] {
  const equals = text.indexOf('=')
  return equals < 0 ? [text, null] : [text.slice(0, equals), text.slice(equals + 1)]
}
