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
/** Stands for a place about which the filter says nothing. */
const ANY = 0x7f
const BITS = 20

/** Marks a unit that may be a part of an encoding. */
const SPECIAL = 1
/** A quote begins an encoding only together with the next unit. */
const MAYBE_SPECIAL = 2

/** The lowest 7 bits, without the differences between the alphabets of base64 and between the digits of hex. */
const FOLD = Uint8Array.from({ length: 128 }, (_, unit) => {
  const letter = String.fromCharCode(unit).toLowerCase().charCodeAt(0)
  if (letter === 0x2d) return PLUS
  if (letter === 0x5f) return 0x2f
  return letter === ANY ? 0 : letter
})
const foldedUnit = (unit: number) => FOLD[unit & 0x7f] ?? 0

/**
 * Says where a pattern may begin, from four code units and a bitmap. Nearly all output is passed over, whatever the number of
 * patterns. Where an encoding may stand, the filter looks only at the units before it.
 */
export class StartFilter {
  /** A hash of the first one to four units of each pattern. */
  readonly #bitmap = new Uint8Array(2 ** (BITS - 3))
  readonly #kinds = new Uint8Array(128)

  constructor() {
    for (const unit of [LINE_FEED, CARRIAGE_RETURN, PERCENT, BACKSLASH]) this.#kinds[unit] = SPECIAL
    this.#kinds[QUOTE] = MAYBE_SPECIAL
  }

  add(text: string): void {
    let key = 0
    for (let index = 0; index < LENGTH; index += 1) {
      const unit = text.charCodeAt(index)
      // Programs write a blank as +, and a quote as two.
      if (unit === SPACE) this.#kinds[PLUS] = SPECIAL
      if (unit === DOUBLE_QUOTE || unit === QUOTE) this.#kinds[unit] = SPECIAL
      key |= foldedUnit(unit) << (7 * index)
      this.#set(hashOf(key | anyAfter(index + 1)))
    }
  }

  /** Makes the unit special where patterns have a gap after it. */
  addSpecial(unit: number): void {
    this.#kinds[unit] = SPECIAL
  }

  /** The first position from `start` on at which a pattern may begin, or the end. */
  next(units: Uint16Array, start: number): number {
    const length = units.length
    const [kinds, bitmap] = [this.#kinds, this.#bitmap]
    for (let at = start; at < length; at += 1) {
      const count = this.#countPlain(units, at)
      if (count === 0) return at
      let key = anyAfter(count)
      for (let index = 0; index < count; index += 1) key |= foldedUnit(units[at + index] ?? 0) << (7 * index)
      if (count < LENGTH) {
        if (this.#has(key)) return at
        continue
      }
      // From here on, one unit leaves the key and one enters it.
      for (let last = at + LENGTH - 1; ; ) {
        const hash = hashOf(key)
        if (((bitmap[hash >>> 3] ?? 0) & (1 << (hash & 7))) !== 0) return last - LENGTH + 1
        last += 1
        at = last - LENGTH
        const unit = units[last]
        if (unit === undefined) break
        if (kinds[unit & 0x7f] !== 0 && this.#isSpecial(units, last)) break
        key = (key >>> 7) | ((FOLD[unit & 0x7f] ?? 0) << 21)
      }
    }
    return length
  }

  /** How many of the next units are not special. */
  #countPlain(units: Uint16Array, at: number): number {
    let count = 0
    while (count < LENGTH && at + count < units.length && !this.#isSpecial(units, at + count)) count += 1
    return count
  }

  #isSpecial(units: Uint16Array, at: number): boolean {
    const unit = units[at] ?? 0
    const kind = unit < 128 ? (this.#kinds[unit] ?? 0) : 0
    if (kind === 0) return false
    if (kind === SPECIAL) return true
    const next = units[at + 1]
    return next === undefined || next === QUOTE || next === DOLLAR
  }

  #has(key: number): boolean {
    const hash = hashOf(key)
    return ((this.#bitmap[hash >>> 3] ?? 0) & (1 << (hash & 7))) !== 0
  }

  #set(hash: number): void {
    this.#bitmap[hash >>> 3] = (this.#bitmap[hash >>> 3] ?? 0) | (1 << (hash & 7))
  }
}

const hashOf = (key: number) => Math.imul(key, 0x9e3779b1) >>> (32 - BITS)

/** The key of places from `index` on about which the filter says nothing. */
function anyAfter(index: number): number {
  let key = 0
  for (let place = index; place < LENGTH; place += 1) key |= ANY << (7 * place)
  return key
}
