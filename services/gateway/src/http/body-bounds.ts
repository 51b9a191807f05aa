const QUOTE = 0x22
const COMMA = 0x2c
const OPENING_BRACKET = 0x5b
const BACKSLASH = 0x5c
const CLOSING_BRACKET = 0x5d
const OPENING_BRACE = 0x7b
const CLOSING_BRACE = 0x7d

const MAX_NESTING = 32
/** Fields and items of all objects and lists. A request with 10,000 targets and 1,000 variables is far below. */
const MAX_VALUES = 50_000

/**
 * Why a JSON text is too much work, or null. Without the bounds, 1 MiB of small values holds the event loop for a fifth of a second.
 * The text may be malformed.
 */
export function findExcess(text: string): string | null {
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
    if (depth > MAX_NESTING) return `nests deeper than ${MAX_NESTING} levels`
    if (values > MAX_VALUES) return `has more than ${MAX_VALUES} fields and items: send less in one request`
  }
  return null
}

function lastOfString(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1
  return at
}
