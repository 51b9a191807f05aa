// The ways in which programs write a character: literally, escaped, percent-encoded or quoted for a shell.

const END = -1
const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const PERCENT = 0x25
const QUOTE = 0x27
const PLUS = 0x2b
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

/** The code units that can mean another character than themselves, or that can be a part of a longer encoding. */
const AMBIGUOUS = Uint8Array.from({ length: 128 }, (_, unit) =>
  [LINE_FEED, CARRIAGE_RETURN, 0x22, PERCENT, QUOTE, 0x2b, BACKSLASH].includes(unit) ? 1 : 0,
)

/** No encoding of a character is longer: 32 backslashes, `ud83d`, and the same once more. */
const LONGEST_ENCODING = 96

/** `line-break` is a line break followed by blanks, `blanks` is any blanks. */
export type Gap = 'line-break' | 'blanks'

/** Reads encodings of characters in a text. */
export class EncodingReader {
  readonly text: string
  /** A loop over this array is several times as fast as a loop over the text. */
  readonly units: Uint16Array
  /** Whether more text could complete an encoding at the end of the text. */
  isCutOff = false
  /** The last result of `possibleCodes`: the filter and each set of patterns ask for the same position. */
  #codes: { at: number; codes: readonly number[] } | null = null

  constructor(text: string) {
    this.text = text
    this.units = new Uint16Array(text.length)
    Buffer.from(this.units.buffer).write(text, 'utf16le')
  }

  /** Returns -1 outside the text. */
  unitAt(at: number): number {
    return at >= 0 && at < this.units.length ? (this.units[at] ?? END) : END
  }

  /** Whether the character at `at` can only be itself, and is complete. */
  isPlain(at: number): boolean {
    const unit = this.unitAt(at)
    if (unit === END || this.unitAt(at - 1) === BACKSLASH) return false
    return unit < 0x80 ? AMBIGUOUS[unit] === 0 : unit < 0xd800 || unit > 0xdfff
  }

  /**
   * All characters of which an encoding may start at `at`, and maybe others: `addEnds` decides. Null if more text is needed to
   * know. This makes the search independent of the number of secrets.
   */
  possibleCodes(at: number): readonly number[] | null {
    if (this.isPlain(at)) return [this.unitAt(at)]
    if (at + LONGEST_ENCODING > this.units.length) return null
    if (this.#codes?.at === at) return this.#codes.codes
    const codes: number[] = []
    this.#addPossible(at, codes)
    this.#codes = { at, codes }
    return codes
  }

  #addPossible(at: number, codes: number[]): void {
    const unit = this.unitAt(at)
    this.#addLiterals(at, codes)
    if (unit === QUOTE) {
      for (const noise of SHELL_NOISE) if (this.#has(at, noise)) this.#addEncoded(at + noise.length, codes)
    }
    this.#addEncoded(at, codes)
  }

  #addEncoded(at: number, codes: number[]): void {
    this.#addLiterals(at, codes)
    const unit = this.unitAt(at)
    if (unit === PERCENT) this.#addPercents(at, codes)
    if (unit === BACKSLASH || this.unitAt(at - 1) === BACKSLASH) this.#addEscaped(this.#afterBackslashes(at), codes)
  }

  #addLiterals(at: number, codes: number[]): void {
    const unit = this.unitAt(at)
    if (unit === END) return
    addCode(codes, unit)
    if (unit >= 0xd800 && unit <= 0xdfff) add(codes, this.text.codePointAt(at) ?? unit)
  }

  #addPercents(at: number, codes: number[]): void {
    const bytes: number[] = []
    let position = at
    for (let count = 0; count < 4 && this.unitAt(position) === PERCENT; count += 1) {
      position += 1
      let byte = this.#number(position, 2, 16)
      for (let nested = 1; byte === PERCENT && nested < MAX_NESTED_PERCENTS; nested += 1) {
        if (count === 0) addCode(codes, PERCENT)
        position += 2
        byte = this.#number(position, 2, 16)
      }
      bytes.push(byte)
      position += 2
    }
    addDecoded(codes, bytes)
  }

  /** Adds what the text means behind a backslash. */
  #addEscaped(letter: number, codes: number[]): void {
    this.#addLiterals(letter, codes)
    const name = this.text.charAt(letter)
    const known = LETTERS[name]
    if (known !== undefined) addCode(codes, known)
    if (name === 'U') addCode(codes, this.#number(letter + 1, 8, 16))
    else if (name === 'u') {
      const first = this.#number(letter + 1, 4, 16)
      addCode(codes, first)
      const second = this.#afterBackslashes(letter + 5)
      if (this.text.charAt(second) === 'u') addPair(codes, first, this.#number(second + 1, 4, 16))
    } else if (name === 'x') {
      addCode(codes, this.#number(letter + 1, 2, 16))
      addDecoded(codes, this.#escapedBytes(letter, 'x', 2, 16))
    } else if (name >= '0' && name <= '3') addDecoded(codes, this.#escapedBytes(letter, '', 3, 8))
  }

  /** Reads up to four bytes such as `xc3\xa9` or `303\251`. The backslashes before the first were read already. */
  #escapedBytes(at: number, prefix: string, digits: number, base: number): number[] {
    const bytes: number[] = []
    let position = at
    while (bytes.length < 4 && this.text.startsWith(prefix, position)) {
      bytes.push(this.#number(position + prefix.length, digits, base))
      const end = position + prefix.length + digits
      position = this.#afterBackslashes(end)
      if (position === end) break
    }
    return bytes
  }

  /** Returns NaN for anything but digits. */
  #number(from: number, digits: number, base: number): number {
    let value = 0
    for (let at = from; at < from + digits; at += 1) value = value * base + digitOf(this.unitAt(at))
    return value
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
    else if (name === 'x') this.#addHexEnds(letter, codePoint, ends)
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

  /** Reads `\xe9`, the code of the character, and `\xc3\xa9`, its bytes. The backslashes before the first were read already. */
  #addHexEnds(letter: number, codePoint: number, ends: number[]): void {
    if (codePoint <= 0xff) add(ends, this.#afterHex(letter + 1, codePoint, 2))
    let position = letter
    for (const byte of utf8(codePoint)) {
      const name = position === letter ? letter : this.#afterBackslashes(position)
      if (name >= this.text.length) this.isCutOff = true
      if (this.text.charAt(name) !== 'x' || (position !== letter && name === position)) return
      position = this.#afterHex(name + 1, byte, 2)
      if (position < 0) return
    }
    add(ends, position)
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

function utf8(codePoint: number): Iterable<number> {
  return codePoint < 0x80 ? [codePoint] : Buffer.from(String.fromCodePoint(codePoint))
}

function unitsOf(codePoint: number): number[] {
  if (!(codePoint <= 0x10ffff)) return []
  const text = String.fromCodePoint(codePoint)
  return Array.from({ length: text.length }, (_, index) => text.charCodeAt(index))
}

const lengthOf = (codePoint: number) => (codePoint > 0xffff ? 2 : 1)

/** Adds a number that is not there yet. Negative numbers and NaN mean that there is none. */
function add(numbers: number[], number: number): void {
  if (number >= 0 && !numbers.includes(number)) numbers.push(number)
}

function digitOf(unit: number): number {
  if (unit >= 0x30 && unit <= 0x39) return unit - 0x30
  const letter = unit | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : Number.NaN
}

function addCode(codes: number[], code: number): void {
  add(codes, code)
  if (code === PLUS) add(codes, 0x20)
  if (code === CARRIAGE_RETURN) add(codes, LINE_FEED)
}

function addPair(codes: number[], high: number, low: number): void {
  const isPair = high >= 0xd800 && high <= 0xdbff && low >= 0xdc00 && low <= 0xdfff
  if (isPair) add(codes, (high - 0xd800) * 0x400 + (low - 0xdc00) + 0x10000)
}

/** Adds the character of which the bytes are the beginning in UTF-8. */
function addDecoded(codes: number[], bytes: readonly number[]): void {
  const [first = Number.NaN] = bytes
  if (first < 0x80) addCode(codes, first)
  else if (first >= 0xc0) {
    const length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4
    addCode(codes, Buffer.from(bytes.slice(0, length)).toString('utf8').codePointAt(0) ?? -1)
  }
}
