const BASE = 'http://slipway.invalid'
/** Control characters, blanks, and the backslash, which browsers read as a slash. */
const FORBIDDEN = /[\p{Cc}\s\\]/u
/** Encoded control characters, slashes, backslashes and percent signs: a proxy may decode them before the browser reads them. */
const FORBIDDEN_ENCODED = /%(?:[01][0-9a-f]|25|2f|5c|7f)/i

/**
 * Whether a text is a path of this server, with or without query. A browser must not be led to another host by it, whatever programs
 * between decode.
 */
export function isReturnPath(text: string): boolean {
  if (!text.startsWith('/') || FORBIDDEN.test(text) || !text.isWellFormed()) return false
  if (!URL.canParse(text, BASE)) return false
  const { origin, pathname } = new URL(text, BASE)
  // The URL has resolved dots: `/.//host` has the path `//host`.
  return origin === BASE && !pathname.startsWith('//') && !FORBIDDEN_ENCODED.test(text.split(/[?#]/)[0] ?? '')
}
