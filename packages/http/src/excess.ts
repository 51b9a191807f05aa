const QUOTE = 0x22
const COMMA = 0x2c
const OPENING_BRACKET = 0x5b
const BACKSLASH = 0x5c
const CLOSING_BRACKET = 0x5d
const OPENING_BRACE = 0x7b
const CLOSING_BRACE = 0x7d

/**
 * Why a JSON text is too much work, or null. Without the bounds, 1 MiB of small values holds the event loop for a fifth of a second.
 * The text may be malformed.
 */
export function findExcess(
  text: string,
  { values: maxValues, nesting: maxNesting }: { values?: number; nesting?: number },
): string | null {
  if (maxValues === undefined && maxNesting === undefined) return null
  let depth = 0
  let values = 0
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at)
    if (unit === QUOTE) at = lastOfString(text, at)
    else if (unit === COMMA) values += 1
    else if (unit === OPENING_BRACE || unit === OPENING_BRACKET) {
      values += 1
      depth += 1
    } else if (unit === CLOSING_BRACE || unit === CLOSING_BRACKET) depth -= 1
    if (maxNesting !== undefined && depth > maxNesting) return `nests deeper than ${maxNesting} levels`
    if (maxValues !== undefined && values > maxValues) {
      return `has more than ${maxValues} fields and items: send less in one request`
    }
  }
  return null
}

function lastOfString(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1
  return at
}
