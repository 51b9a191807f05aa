import { RefusedError } from '../exit-code.ts'
import { describeAmbiguity } from './records.ts'
import { suggestOneOf } from './suggestions.ts'

interface Entry {
  id: string
  name?: string
}

/** A shorter one is more likely to be a mistyped name. */
const MIN_PREFIX = 4

/**
 * Returns the entry of a list that has this name or id, or whose id begins like this. For lists that the API cannot search.
 * @throws RefusedError if there is none, or more than one
 */
export async function chooseEntry<T extends Entry>(
  kind: string,
  entries: readonly T[],
  given: string,
  kinds = `${kind}s`,
): Promise<T> {
  const id = given.toLowerCase()
  const exact = entries.filter((one) => one.id === id || one.name === given)
  const hasPrefix = (one: T) => given.length >= MIN_PREFIX && one.id.startsWith(id)
  const found = exact.length > 0 ? exact : entries.filter(hasPrefix)
  const [entry, another] = found
  if (entry === undefined) {
    const names = entries.flatMap(({ name }) => (name === undefined ? [] : [name]))
    throw new RefusedError(`there is no ${kind} "${given}"${await suggestOneOf(given, names)}`)
  }
  if (another !== undefined) throw new RefusedError(describeAmbiguity(kinds, given, found))
  return entry
}
