/** A value as one word of a shell. */
export function shellQuoted(value: string): string {
  return `'${value.replaceAll("'", "'\\''")}'`
}
