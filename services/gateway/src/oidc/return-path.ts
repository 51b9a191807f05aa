const BASE = 'http://slipway.invalid'
/** Control characters, blanks, and the backslash, which browsers read as a slash. */
const FORBIDDEN = /[\p{Cc}\s\\]/u
/** Encoded control characters, slashes, backslashes and percent signs: a proxy may decode them before the browser reads them. */
const FORBIDDEN_ENCODED = /%(?:[01][0-9a-f]|25|2f|5c|7f)/i

/**
 * A path of this server, with or without query, as a header may hold it; null for any other text. A browser must not be led to another
 * host by it, whatever programs between decode.
 */
export function returnPath(text: string): string | null {
  if (!text.startsWith('/') || FORBIDDEN.test(text) || !text.isWellFormed()) return null
  if (!URL.canParse(text, BASE)) return null
  const { origin, pathname, search, hash } = new URL(text, BASE)
  // The URL has resolved dots: `/.//host` has the path `//host`.
  if (origin !== BASE || pathname.startsWith('//') || FORBIDDEN_ENCODED.test(pathname)) return null
  return `${pathname}${search}${hash}`
}
