import { distance } from 'fastest-levenshtein'

/** Two typing errors and a letter in the wrong place, which counts twice. */
const MOST_EDITS = 3
/** Of short words, three edits leave nothing. */
const LEAST_SIMILARITY = 0.5
/** No name that a person mistypes is longer. The cost grows with both lengths. */
const LONGEST = 64
const MOST_SUGGESTED = 3

/** Returns the words that a mistyped one may mean: those with the fewest different characters, in any case of letters. */
export function findSimilar(given: string, known: Iterable<string>): string[] {
  if (given.length > LONGEST) return []
  const typed = given.toLowerCase()
  let fewest = MOST_EDITS
  let found: string[] = []
  for (const word of known) {
    if (word.length > LONGEST || Math.abs(word.length - given.length) > fewest) continue
    const edits = distance(typed, word.toLowerCase())
    if (edits > fewest || 1 - edits / Math.max(word.length, given.length) < LEAST_SIMILARITY) continue
    if (edits < fewest) found = []
    fewest = edits
    found.push(word)
  }
  return found.slice(0, MOST_SUGGESTED)
}

/** Returns the end of a sentence, such as `; did you mean greeting?`, or nothing if no word is similar. */
export function suggest(given: string, known: Iterable<string>): string {
  const similar = findSimilar(given, known)
  return similar.length === 0 ? '' : `; did you mean ${similar.join(' or ')}?`
}
