/** A word of a shell command, in quotes where it needs them. */
export const shellQuoted = (text: string): string =>
  /^[\w./:=@^~+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`

/** The call of the API that shows the same as a screen, where the command line has no subcommand for it. */
export const curlCommand = (path: string): string =>
  `curl -fsS -H "Authorization: Bearer $SLIPWAY_API_KEY" ${shellQuoted(`${window.location.origin}/api/v1${path}`)}`

/** The command with an option for each filter; null if it lacks an option. */
export function filterCommand(
  command: string,
  options: Record<string, string>,
  filters: Record<string, string>,
): string | null {
  const words = Object.entries(filters).map(([name, value]) => `${options[name]} ${shellQuoted(value)}`)
  return Object.keys(filters).every((name) => options[name] !== undefined) ? [command, ...words].join(' ') : null
}

/** A list of the API with its filters. */
export function curlList(path: string, filters: Record<string, string>): string {
  const query = new URLSearchParams(filters).toString()
  return curlCommand(query === '' ? path : `${path}?${query}`)
}
