import { type FieldError, pointer } from './problem.ts'

const QUOTE = 0x22
const PLUS = 0x2b
const COMMA = 0x2c
const MINUS = 0x2d
const POINT = 0x2e
const ZERO = 0x30
const NINE = 0x39
const COLON = 0x3a
const OPENING_BRACKET = 0x5b
const BACKSLASH = 0x5c
const CLOSING_BRACKET = 0x5d
const OPENING_BRACE = 0x7b
const CLOSING_BRACE = 0x7d

/** A double keeps every number of so many digits. */
const SAFE_DIGITS = 15
/** Above and below these powers of ten a double may lose digits of a number, or become infinite or zero. */
const SAFE_POWERS = { from: -307, to: 308 }
/** Below this number, doubles have fewer digits. */
const SMALLEST_PRECISE = 2.2250738585072014e-308

/** Only such a number can change. The search is several times as fast as the pass that finds the path. */
const SUSPICIOUS = /[0-9][0-9.]{15}|[0-9][eE]/

/** An object or array that is open: the place of the last key, or the index of the item. */
type Level = { key: { start: number; end: number } | null; index: number }

/**
 * Finds the numbers of a JSON text that JSON.parse changes: 9007199254740993 becomes 9007199254740992, 1e400 becomes infinite.
 * One pass over the text, which JSON.parse accepted before. Returns at most `limit` problems.
 */
export function findChangedNumbers(text: string, limit: number): FieldError[] {
  if (!SUSPICIOUS.test(text)) return []
  const problems: FieldError[] = []
  const levels: Level[] = []
  let level: Level | undefined
  let string = { start: 0, end: 0 }
  let at = 0
  while (at < text.length && problems.length < limit) {
    const unit = text.charCodeAt(at)
    if (unit === QUOTE) {
      string = { start: at, end: endOfString(text, at) }
      at = string.end
      continue
    }
    if (unit === MINUS || isDigit(unit)) {
      const end = endOfNumber(text, at)
      const message = changeOf(text, at, end)
      if (message !== null) problems.push({ path: pathOf(text, levels), message })
      at = end
      continue
    }
    if (unit === OPENING_BRACE || unit === OPENING_BRACKET) {
      level = { key: null, index: 0 }
      levels.push(level)
    } else if (unit === CLOSING_BRACE || unit === CLOSING_BRACKET) {
      levels.pop()
      level = levels.at(-1)
    } else if (unit === COLON && level) level.key = string
    else if (unit === COMMA && level) level.index += 1
    at += 1
  }
  return problems
}

function pathOf(text: string, levels: readonly Level[]): string {
  return pointer(
    ...levels.map(({ key, index }) => (key === null ? index : String(JSON.parse(text.slice(key.start, key.end))))),
  )
}

function endOfString(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1
  return at + 1
}

function endOfNumber(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && isPartOfNumber(text.charCodeAt(at))) at += 1
  return at
}

const isDigit = (unit: number) => unit >= ZERO && unit <= NINE
/** Digits, signs, the point and the letter `e` in both cases. */
const isPartOfNumber = (unit: number) =>
  isDigit(unit) || unit === POINT || unit === MINUS || unit === PLUS || (unit | 0x20) === 0x65

/** Why the number is not what JSON.parse makes of it, or null. The message does not repeat the number: it may be a secret. */
function changeOf(text: string, start: number, end: number): string | null {
  const written = decimalOf(text, start, end)
  const { count, power } = written
  if (count === 0) return null
  const isShort = count <= SAFE_DIGITS
  if (isShort && power >= SAFE_POWERS.from && power + count <= SAFE_POWERS.to) return null
  const number = text.slice(start, end)
  const value = Number(number)
  if (!Number.isFinite(value)) return 'is too large for a number: write it in quotes, as text'
  if (isShort && Math.abs(value) >= SMALLEST_PRECISE) return null
  const kept = String(value)
  if (kept === number || isSameNumber(text, written, kept, decimalOf(kept, 0, kept.length))) return null
  if (value === 0) return 'is too close to zero for a number: write it in quotes, as text'
  return 'has more digits than a number keeps: write it in quotes, as text'
}

/** A number other than zero: where its first digit stands, how many digits it has without outer zeros, and the power of ten of the last one. */
interface Decimal {
  first: number
  count: number
  power: number
}

function decimalOf(text: string, start: number, end: number): Decimal {
  let first = start
  let digits = 0
  let count = 0
  let fraction = 0
  let isFraction = false
  let exponent = 0
  for (let at = start; at < end; at += 1) {
    const unit = text.charCodeAt(at)
    if (unit === POINT) isFraction = true
    else if (isDigit(unit)) {
      if (isFraction) fraction += 1
      if (digits === 0 && unit === ZERO) continue
      if (digits === 0) first = at
      digits += 1
      if (unit !== ZERO) count = digits
    } else if (unit !== MINUS) {
      exponent = Number(text.slice(at + 1, end))
      break
    }
  }
  return { first, count, power: exponent - fraction + digits - count }
}

function isSameNumber(a: string, of: Decimal, b: string, other: Decimal): boolean {
  if (of.count !== other.count || of.power !== other.power) return false
  let [left, right] = [of.first, other.first]
  for (let n = 0; n < of.count; n += 1) {
    if (a.charCodeAt(left) === POINT) left += 1
    if (b.charCodeAt(right) === POINT) right += 1
    if (a.charCodeAt(left) !== b.charCodeAt(right)) return false
    left += 1
    right += 1
  }
  return true
}
