const CHARACTERS = 2_000

/** What the end of a step tells of its command's output: the last characters, stderr behind stdout. Null for none. */
export function outputTail(stdout: string, stderr: string): string | null {
  const between = stdout === '' || stderr === '' || stdout.endsWith('\n') ? '' : '\n'
  // The cut may leave the second half of a surrogate pair.
  const tail = `${stdout}${between}${stderr}`.slice(-CHARACTERS).replace(/^[\udc00-\udfff]/, '')
  return tail === '' ? null : tail
}
