/** Returns the first of `count` names and how many more there are, for example `web-1, web-2 and 8 more`. */
export function formatNames(names: readonly string[], count: number, most: number): string {
  const shown = names.slice(0, count > most ? most - 1 : most)
  const more = count - shown.length
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
