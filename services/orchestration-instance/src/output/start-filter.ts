import type { EncodingReader } from './encodings.ts'

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const SPACE = 0x20
const DOUBLE_QUOTE = 0x22
const DOLLAR = 0x24
const PERCENT = 0x25
const QUOTE = 0x27
const PLUS = 0x2b
const BACKSLASH = 0x5c

/** How many code units the filter looks at. Secrets have at least as many. */
const LENGTH = 4
/** With 2,000 secrets of ordinary length, about one in 100 bits is set. */
const BITS = 21

/** Marks a unit that may be a part of an encoding, besides its folded value. */
const SPECIAL = 0x80

/** The lowest 7 bits, without the differences between the alphabets of base64, the digits of hex, and line ends. */
const FOLD = Uint8Array.from({ length: 128 }, (_, unit) => {
  const letter = String.fromCharCode(unit).toLowerCase().charCodeAt(0)
  if (letter === 0x2d) return PLUS
  if (letter === 0x5f) return 0x2f
  return letter === CARRIAGE_RETURN ? LINE_FEED : letter
})
const foldedUnit = (unit: number) => FOLD[unit & 0x7f] ?? 0

/**
 * Says where a pattern may begin, from four code units and a bitmap. Nearly all output is passed over, whatever the number of
 * patterns. Behind the beginning of an encoding, the filter looks at no further units.
 */
export class StartFilter {
  /** The hashes of the first one to four units of each pattern. Empty until there is a pattern. */
  #bitmap = new Uint8Array()
  /** For each of the lowest 7 bits of a unit, its folded value, and whether it may be special. */
  readonly #folded = FOLD.slice()
  /** A quote is special before a quote or a dollar sign only, unless patterns have quotes. */
  #isQuoteSpecial = false

  constructor() {
    for (const unit of [LINE_FEED, CARRIAGE_RETURN, PERCENT, BACKSLASH, QUOTE]) this.addSpecial(unit)
  }

  add(text: string): void {
    if (this.#bitmap.length === 0) this.#bitmap = new Uint8Array(2 ** (BITS - 3))
    let key = 0
    for (let place = 0; place < LENGTH; place += 1) {
      const unit = text.charCodeAt(place)
      // Programs write a blank as +, and a quote as two.
      if (unit === SPACE) this.addSpecial(PLUS)
      if (unit === DOUBLE_QUOTE) this.addSpecial(unit)
      if (unit === QUOTE) this.#isQuoteSpecial = true
      key = withUnit(key, place, unit)
      const hash = hashOf(prefixKey(key, place + 1))
      this.#bitmap[hash >>> 3] = (this.#bitmap[hash >>> 3] ?? 0) | (1 << (hash & 7))
    }
  }

  /** Makes the unit special where patterns have a gap after it. */
  addSpecial(unit: number): void {
    this.#folded[unit] = foldedUnit(unit) | SPECIAL
  }

  /** The first position from `start` on at which a pattern may begin, or the end. */
  next(reader: EncodingReader, start: number): number {
    const { units } = reader
    const { length } = units
    const folded = this.#folded
    const bitmap = this.#bitmap
    let at = start
    while (at < length) {
      if (!this.#areFourPlain(units, at)) {
        if (this.#mayBeginAt(reader, at)) return at
        at += 1
        continue
      }
      let key = 0
      for (let place = 0; place < LENGTH; place += 1) key = withUnit(key, place, units[at + place] ?? 0)
      // From here on, one unit leaves the key and one enters it.
      for (let last = at + LENGTH; ; last += 1) {
        const hash = hashOf(key)
        if (((bitmap[hash >>> 3] ?? 0) & (1 << (hash & 7))) !== 0) return last - LENGTH
        at = last - LENGTH + 1
        if (last >= length) break
        const unit = units[last] ?? 0
        const code = folded[unit & 0x7f] ?? 0
        if (code >= SPECIAL && this.#isSpecial(units, last)) break
        key = (key >>> 7) | ((code & 0x7f) << 21)
      }
    }
    return length
  }

  #areFourPlain(units: Uint16Array, at: number): boolean {
    if (at + LENGTH > units.length) return false
    for (let place = 0; place < LENGTH; place += 1) if (this.#isSpecial(units, at + place)) return false
    return true
  }

  #isSpecial(units: Uint16Array, at: number): boolean {
    const unit = units[at] ?? 0
    if (unit >= 0x80 || (this.#folded[unit] ?? 0) < SPECIAL) return false
    if (unit !== QUOTE || this.#isQuoteSpecial) return true
    const next = units[at + 1]
    return next === undefined || next === QUOTE || next === DOLLAR
  }

  /** Reads units up to the first one that may be an encoding, across line breaks. */
  #mayBeginAt(reader: EncodingReader, at: number): boolean {
    const { units } = reader
    let key = 0
    let position = at
    for (let place = 0; place < LENGTH; ) {
      const unit = units[position]
      if (unit === undefined) return this.#hasPrefix(key, place)
      if (!this.#isSpecial(units, position)) {
        key = withUnit(key, place, unit)
        place += 1
        position += 1
      } else if (unit === LINE_FEED || unit === CARRIAGE_RETURN) {
        if (this.#hasPrefix(withUnit(key, place, unit), place + 1)) return true
        if (place === 0) return false
        // The line break may be a gap of a pattern.
        while (isBlank(units[position])) position += 1
      } else return this.#mayGoOn(reader.possibleCodes(position), key, place)
    }
    return this.#hasPrefix(key, LENGTH)
  }

  /** Whether patterns have one of these characters, or a gap, after the units of the key. */
  #mayGoOn(codes: readonly number[] | null, key: number, place: number): boolean {
    if (codes === null) return this.#hasPrefix(key, place)
    for (const code of codes) {
      if (this.#hasPrefix(withUnit(key, place, firstUnit(code)), place + 1)) return true
      if (code === LINE_FEED && place > 0 && this.#hasPrefix(key, place)) return true
    }
    return false
  }

  #hasPrefix(key: number, length: number): boolean {
    if (length === 0) return true
    const hash = hashOf(prefixKey(key, length))
    return ((this.#bitmap[hash >>> 3] ?? 0) & (1 << (hash & 7))) !== 0
  }
}

const withUnit = (key: number, place: number, unit: number) => key | (foldedUnit(unit) << (7 * place))
/** Tells a prefix from the same units with NUL behind them. */
const prefixKey = (key: number, length: number) => (length === LENGTH ? key : key | (length << 28))
const hashOf = (key: number) => Math.imul(key, 0x9e3779b1) >>> (32 - BITS)
const firstUnit = (code: number) => (code > 0xffff ? 0xd800 + ((code - 0x10000) >> 10) : code)

function isBlank(unit: number | undefined): boolean {
  return unit === SPACE || unit === 9 || unit === LINE_FEED || unit === CARRIAGE_RETURN
}
