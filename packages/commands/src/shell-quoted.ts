/** Quotes a value as one shell word. */
export function shellQuoted(value: string): string {
  return `'${value.replaceAll("'", "'\\''")}'`
}
