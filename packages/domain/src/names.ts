const MAX_NAME_LENGTH = 255

/** What is wrong with the name of a record; empty if it is valid. Counts code points. */
export function nameProblems(text: string): string[] {
  const problems: string[] = []
  const length = text.length > 2 * MAX_NAME_LENGTH ? text.length : [...text].length
  if (length < 1 || length > MAX_NAME_LENGTH) problems.push(`must have 1 to ${MAX_NAME_LENGTH} characters`)
  if (text !== text.trim()) problems.push('must not begin or end with blanks')
  if (/\p{Cc}/u.test(text)) problems.push('must not contain control characters')
  if (BIDIRECTIONAL.test(text)) problems.push('must not contain controls of the writing direction')
  if (length > 0 && nameKey(text).trim() === '') problems.push('must contain a visible character')
  if (/\p{Cs}/u.test(text)) problems.push('must be valid Unicode')
  return problems
}

/** They change the order of what stands around a name, so a person reads another text than the one that is stored. */
const BIDIRECTIONAL = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/

/** Characters without a glyph: joiners, variation selectors, soft hyphens, fillers, byte order marks, annotations. */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu
const BLANKS = /[\p{Zs}\p{Zl}\p{Zp}\u2800]/gu
const DOTLESS_I = '\u0131'

/**
 * What makes a name unique among the records of its kind and tenant: the name without differences of case, of Unicode composition, and
 * of characters that nobody sees. Two names that look the same to a person have the same key.
 */
export function nameKey(name: string): string {
  const visible = name.replace(INVISIBLE, '').replace(BLANKS, ' ').normalize('NFD')
  return [...visible].map(foldCase).join('').normalize('NFC')
}

/**
 * The case folding of Unicode. The lower case alone keeps ß apart from SS. The dotless i is another letter, although it shares its
 * upper case with i.
 */
const foldCase = (character: string) => (character === DOTLESS_I ? character : character.toUpperCase().toLowerCase())

/** Whether a value contains, at any depth, text that Postgres refuses: NUL or half a surrogate pair. */
export function hasUnstorableText(value: unknown): boolean {
  if (typeof value === 'string') return isUnstorable(value)
  if (Array.isArray(value)) return value.some(hasUnstorableText)
  if (value === null || typeof value !== 'object') return false
  return Object.entries(value).some(([key, item]) => isUnstorable(key) || hasUnstorableText(item))
}

const isUnstorable = (text: string) => text.includes('\0') || !text.isWellFormed()
