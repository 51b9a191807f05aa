import { sanitize } from './controls.ts'

const MAX_PARTS = 6

/**
 * Returns the first of `count` names and how many more there are, for example `web-1, web-10 and 8 more`.
 * `most` is the largest number of parts; "8 more" is one of them.
 */
export function formatNames(names: readonly string[], count = names.length, most = MAX_PARTS): string {
  const shown = names.slice(0, count > most ? most - 1 : most)
  const more = count - shown.length
  return `${sanitize(shown.join(', '))}${more > 0 ? ` and ${more} more` : ''}`
}
