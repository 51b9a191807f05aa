const MAX_NAME_LENGTH = 255

/** What is wrong with the name of a record; empty if it is valid. Counts code points. */
export function nameProblems(text: string): string[] {
  const problems: string[] = []
  const length = text.length > 2 * MAX_NAME_LENGTH ? text.length : [...text].length
  if (length < 1 || length > MAX_NAME_LENGTH) problems.push(`must have 1 to ${MAX_NAME_LENGTH} characters`)
  if (text !== text.trim()) problems.push('must not begin or end with blanks')
  if (/\p{Cc}/u.test(text)) problems.push('must not contain control characters')
  if (/\p{Cs}/u.test(text)) problems.push('must be valid Unicode')
  return problems
}

/** Whether a value contains, at any depth, text that Postgres refuses: NUL or half a surrogate pair. */
export function hasUnstorableText(value: unknown): boolean {
  if (typeof value === 'string') return isUnstorable(value)
  if (Array.isArray(value)) return value.some(hasUnstorableText)
  if (value === null || typeof value !== 'object') return false
  return Object.entries(value).some(([key, item]) => isUnstorable(key) || hasUnstorableText(item))
}

const isUnstorable = (text: string) => text.includes('\0') || !text.isWellFormed()
