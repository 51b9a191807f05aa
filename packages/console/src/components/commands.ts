/** A word of a shell command, in quotes where it needs them. */
export const shellQuoted = (text: string): string =>
  /^[\w./:=@^~+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`

/** The call of the API that shows the same as a screen, where the command line has no subcommand for it. */
export const curlCommand = (path: string): string =>
  `curl -fsS -H "Authorization: Bearer $SLIPWAY_API_KEY" ${shellQuoted(`${window.location.origin}/api/v1${path}`)}`
