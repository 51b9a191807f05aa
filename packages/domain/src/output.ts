const CHARACTERS = 2_000

/**
 * The end of a command's output as the end of its step shows it: the last characters, stderr after stdout. Null without output.
 */
export function outputTail(stdout: string, stderr: string): string | null {
  const between = stdout === '' || stderr === '' || stdout.endsWith('\n') ? '' : '\n'
  // The cut may leave the second half of a surrogate pair at the beginning.
  const tail = `${stdout}${between}${stderr}`.slice(-CHARACTERS).replace(/^[\udc00-\udfff]/, '')
  return tail === '' ? null : tail
}
