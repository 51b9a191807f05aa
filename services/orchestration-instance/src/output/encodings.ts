// The ways in which programs write a character: literally, escaped, percent-encoded or quoted for a shell.

const END = -1
const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const DOLLAR = 0x24
const PERCENT = 0x25
const QUOTE = 0x27
const BACKSLASH = 0x5c
/** The unescaped characters of a gap. */
export const BLANKS: ReadonlySet<number> = new Set([0x09, LINE_FEED, CARRIAGE_RETURN, 0x20])

/** Limits of repetition. Without them, a possible match could hold back output without limit. */
const MAX_BACKSLASHES = 32
const MAX_NESTED_PERCENTS = 4
const MAX_GAP = 256

/** The letters that stand for control characters behind a backslash. */
const LETTERS: Record<string, number> = {
  n: LINE_FEED,
  t: 9,
  r: CARRIAGE_RETURN,
  b: 8,
  f: 12,
  v: 11,
  a: 7,
  e: 27,
  E: 27,
}

/** Further spellings of a character, in HTML forms, CSV fields and shells. */
const SPELLINGS: Record<number, readonly string[]> = {
  32: ['+'],
  34: ['""'],
  [QUOTE]: ["''", `'\\''`, `'"'"'`],
}

/** GNU `printf %q` writes these texts around escaped characters. */
const SHELL_NOISE = ["'$'", "''"]

/** Code units with which an encoding of any character can begin. */
export const ESCAPES: ReadonlySet<number> = new Set([PERCENT, QUOTE, BACKSLASH])

/** Whether the literal character can also start a longer encoding, or has further spellings. */
export function isAmbiguous(codePoint: number): boolean {
  return codePoint < 0x80 && AMBIGUOUS[codePoint] === 1
}

const tableOf = (units: Iterable<number>) => {
  const has = new Set(units)
  return Uint8Array.from({ length: 128 }, (_, unit) => (has.has(unit) ? 1 : 0))
}
const AMBIGUOUS = tableOf([LINE_FEED, ...ESCAPES, ...Object.keys(SPELLINGS).map(Number)])
/** The characters that mean a line break after a backslash. A shell also removes a literal line break there. */
const BREAKS = tableOf([LINE_FEED, CARRIAGE_RETURN, 0x6e, 0x72])

/** The character and its other spellings, without escapes. */
export function spellingsOf(codePoint: number): string[] {
  return [
    String.fromCodePoint(codePoint),
    ...(SPELLINGS[codePoint] ?? []),
    ...(codePoint === LINE_FEED ? ['\r', '\r\n'] : []),
  ]
}

/** The longest encoding of one character: `%25252541`, `'$'\\U0001f600`. */
export const LONGEST_ENCODING = 16

/** The first two code units of the encodings of a character that start with `%` or a backslash. */
export function encodedPairs(codePoint: number): [first: number, second: number][] {
  const [byte = 0] = utf8(codePoint)
  const digit = (byte >> 4).toString(16)
  const afterBackslash = [
    'u',
    'U',
    String(byte >> 6),
    ...Object.keys(LETTERS).filter((name) => LETTERS[name] === codePoint),
  ]
  const character = String.fromCodePoint(codePoint)
  // A backslash before a letter or digit that forms no escape is not part of the secret, for example in a Windows path.
  if (!/[A-Za-z0-9]/.test(character)) afterBackslash.push(character)
  return [
    ...[digit, digit.toUpperCase(), '2'].map((text): [number, number] => [PERCENT, text.charCodeAt(0)]),
    ...afterBackslash.map((text): [number, number] => [BACKSLASH, text.charCodeAt(0)]),
  ]
}

/** The code units and UTF-8 bytes that an encoding at `at` may mean. The encoding starts with `%` or a backslash. */
export function firstOfEncoding(text: string, at: number): { units: number[]; bytes: number[] } {
  const number = (from: number, digits: number, base = 16) => Number.parseInt(text.slice(from, from + digits), base)
  const second = text.charCodeAt(at + 1)
  if (text.charCodeAt(at) === PERCENT) {
    const bytes = [number(at + 1, 2)]
    while (bytes.at(-1) === PERCENT && bytes.length < MAX_NESTED_PERCENTS)
      bytes.push(number(at + 1 + 2 * bytes.length, 2))
    return { units: [PERCENT], bytes }
  }
  const name = text.charAt(at + 1)
  if (name === 'u') return { units: [BACKSLASH, number(at + 2, 4)], bytes: [] }
  if (name === 'U') return { units: [BACKSLASH, ...unitsOf(number(at + 2, 8)).slice(0, 1)], bytes: [] }
  if (name >= '0' && name <= '3') return { units: [BACKSLASH], bytes: [number(at + 1, 3, 8)] }
  return { units: [BACKSLASH, LETTERS[name] ?? second], bytes: [] }
}

/** `line-break` is a line break followed by blanks, `blanks` is any blanks. */
export type Gap = 'line-break' | 'blanks'

/** Reads encodings of characters in a text. */
export class EncodingReader {
  readonly text: string
  /** A loop over this array is several times as fast as a loop over the text. */
  readonly units: Uint16Array
  /** Whether more text could complete an encoding at the end of the text. */
  isCutOff = false

  constructor(text: string) {
    this.text = text
    this.units = new Uint16Array(text.length)
    Buffer.from(this.units.buffer).write(text, 'utf16le')
  }

  /** Returns -1 outside the text. */
  unitAt(at: number): number {
    return at >= 0 && at < this.units.length ? (this.units[at] ?? END) : END
  }

  /** Whether an encoding of the character, or a gap before the encoding, may start at `at`. A fast check that rejects most text. */
  mayBegin(at: number, codePoint: number, gap: Gap | null): boolean {
    const unit = this.unitAt(at)
    if (unit === END || codePoint > 0xffff || isAmbiguous(codePoint)) return true
    if (unit === codePoint || (gap !== null && BLANKS.has(unit))) return true
    if (unit === QUOTE || unit === PERCENT) {
      const next = this.unitAt(at + 1)
      if (next === END) return true
      if (unit === QUOTE) return next === QUOTE || next === DOLLAR
      return codePoint > 0x7f || isFirstDigit(next, codePoint) || (gap !== null && next === 0x30)
    }
    if (unit !== BACKSLASH && this.unitAt(at - 1) !== BACKSLASH) return false
    const letter = this.unitAt(this.#afterBackslashes(at))
    if (letter === codePoint || letter === END || isGeneralEscape(letter)) return true
    return codePoint < 0x20 || (gap !== null && BREAKS[letter & 0x7f] === 1)
  }

  /** Adds every end position of an encoding of the character that starts at `at`. */
  addEnds(at: number, codePoint: number, ends: number[]): void {
    this.#addSimpleEnds(at, codePoint, ends)
    if (this.unitAt(at) === QUOTE) {
      for (const noise of SHELL_NOISE) {
        if (this.#has(at, noise)) this.#addSimpleEnds(at + noise.length, codePoint, ends)
      }
    }
    // Each level of encoding doubles backslashes and turns % into %25. The number of levels is not known.
    if (codePoint !== BACKSLASH && codePoint !== PERCENT) return
    for (let index = 0; index < ends.length && index < MAX_BACKSLASHES; index += 1) {
      const end = ends[index] ?? 0
      if (codePoint === BACKSLASH) this.#addSimpleEnds(end, codePoint, ends)
      else if (this.#has(end, '25')) add(ends, end + 2)
    }
  }

  /** Adds every end position of a gap that starts at `at`. The blanks may be escaped. */
  addGapEnds(at: number, gap: Gap, ends: number[]): void {
    let position = at
    while (position - at < MAX_GAP) {
      const next = this.#afterBlank(position, gap === 'line-break' && position === at)
      if (next < 0) return
      add(ends, next)
      position = next
    }
  }

  /** The end of the base64 padding that starts at `at`. */
  afterPadding(at: number): number {
    let position = at
    for (let count = 0; count < 2; count += 1) {
      if (this.#has(position, '=')) position += 1
      else if (this.#has(position, '%3D') || this.#has(position, '%3d')) position += 3
    }
    return position
  }

  #addSimpleEnds(at: number, codePoint: number, ends: number[]): void {
    const unit = this.unitAt(at)
    if (unit === END) {
      this.isCutOff = true
      return
    }
    this.#addSpellings(at, codePoint, ends)
    if (unit === PERCENT) add(ends, this.#afterPercents(at, codePoint))
    if (unit === BACKSLASH || this.unitAt(at - 1) === BACKSLASH) this.#addEscapedEnds(at, codePoint, ends)
    if (codePoint !== LINE_FEED) return
    const returns: number[] = []
    this.#addSimpleEnds(at, CARRIAGE_RETURN, returns)
    for (const end of returns) this.#addSimpleEnds(end, LINE_FEED, ends)
  }

  #addSpellings(at: number, codePoint: number, ends: number[]): void {
    if (this.#isCharacter(at, codePoint)) add(ends, at + lengthOf(codePoint))
    for (const spelling of SPELLINGS[codePoint] ?? []) if (this.#has(at, spelling)) add(ends, at + spelling.length)
  }

  /**
   * Adds the end positions of the character, or of an escape for it, after backslashes. The backslash of the escape may already
   * count as an encoding of the previous character.
   */
  #addEscapedEnds(at: number, codePoint: number, ends: number[]): void {
    const letter = this.#afterBackslashes(at)
    if (letter >= this.text.length) {
      this.isCutOff = true
      return
    }
    this.#addSpellings(letter, codePoint, ends)
    const name = this.text.charAt(letter)
    if (LETTERS[name] === codePoint) add(ends, letter + 1)
    else if (name === 'u') add(ends, this.#afterUnicode(letter + 1, codePoint))
    else if (name === 'U') add(ends, this.#afterHex(letter + 1, codePoint, 8))
    else if (name >= '0' && name <= '3') add(ends, this.#afterOctals(letter, codePoint))
  }

  /** Reads `00e9` after `\u`, or `d83d\ude00` for a character of two code units. */
  #afterUnicode(at: number, codePoint: number): number {
    const [first = 0, second] = unitsOf(codePoint)
    const end = this.#afterHex(at, first, 4)
    if (end < 0 || second === undefined) return end
    const letter = this.#afterBackslashes(end)
    if (letter >= this.text.length) this.isCutOff = true
    return letter > end && this.text.charAt(letter) === 'u' ? this.#afterHex(letter + 1, second, 4) : -1
  }

  /** Reads each byte as `%C3`, or encoded twice as `%25C3`. */
  #afterPercents(at: number, codePoint: number): number {
    let position = at
    for (const byte of utf8(codePoint)) {
      if (!this.#has(position, '%')) return -1
      const from = position + 1
      position = -1
      for (let nested = 0; position < 0 && nested < MAX_NESTED_PERCENTS; nested += 1) {
        position = this.#afterHex(from + 2 * nested, byte, 2)
        if (position < 0 && this.#afterHex(from + 2 * nested, PERCENT, 2) < 0) return -1
      }
      if (position < 0) return -1
    }
    return position
  }

  /** Reads each byte as three octal digits. The backslash before the first byte was read already. */
  #afterOctals(at: number, codePoint: number): number {
    let position = at
    for (const byte of utf8(codePoint)) {
      const octal = `${position === at ? '' : '\\'}${byte.toString(8).padStart(3, '0')}`
      if (!this.#has(position, octal)) return -1
      position += octal.length
    }
    return position
  }

  #afterHex(at: number, value: number, digits: number): number {
    const hex = value.toString(16).padStart(digits, '0')
    for (let index = 0; index < digits; index += 1) {
      if (at + index >= this.text.length) {
        this.isCutOff = true
        return -1
      }
      if (this.text.charAt(at + index).toLowerCase() !== hex[index]) return -1
    }
    return at + digits
  }

  #afterBlank(at: number, mustBreak: boolean): number {
    if (at >= this.text.length) {
      this.isCutOff = true
      return -1
    }
    const unit = this.unitAt(at)
    if (BLANKS.has(unit)) return mustBreak && unit !== LINE_FEED && unit !== CARRIAGE_RETURN ? -1 : at + 1
    if (unit !== BACKSLASH && unit !== PERCENT) return -1
    const ends: number[] = []
    for (const blank of [LINE_FEED, CARRIAGE_RETURN]) this.#addSimpleEnds(at, blank, ends)
    return Math.max(-1, ...ends)
  }

  #afterBackslashes(at: number): number {
    let position = at
    while (position - at < MAX_BACKSLASHES && this.unitAt(position) === BACKSLASH) position += 1
    return position
  }

  #isCharacter(at: number, codePoint: number): boolean {
    return (codePoint > 0xffff ? this.text.codePointAt(at) : this.unitAt(at)) === codePoint
  }

  #has(at: number, part: string): boolean {
    if (this.text.startsWith(part, at)) return true
    if (at + part.length > this.text.length && part.startsWith(this.text.slice(at))) this.isCutOff = true
    return false
  }
}

export function utf8(codePoint: number): Iterable<number> {
  return codePoint < 0x80 ? [codePoint] : Buffer.from(String.fromCodePoint(codePoint))
}

function unitsOf(codePoint: number): number[] {
  if (!(codePoint <= 0x10ffff)) return []
  const text = String.fromCodePoint(codePoint)
  return Array.from({ length: text.length }, (_, index) => text.charCodeAt(index))
}

const lengthOf = (codePoint: number) => (codePoint > 0xffff ? 2 : 1)

function add(ends: number[], end: number): void {
  if (end >= 0 && !ends.includes(end)) ends.push(end)
}

/** Whether the digit starts the percent-encoded character, or `%25` of a double encoding. */
function isFirstDigit(unit: number, codePoint: number): boolean {
  return unit === END || unit === 0x32 || Number.parseInt(String.fromCharCode(unit), 16) === codePoint >> 4
}

/** Whether the unit can start an escape of any character after a backslash: `u`, `U` or an octal digit. */
function isGeneralEscape(unit: number): boolean {
  return unit === 0x75 || unit === 0x55 || (unit >= 0x30 && unit <= 0x33)
}
