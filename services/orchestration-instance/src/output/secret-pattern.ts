import {
  BLANKS,
  type EncodingReader,
  ESCAPES,
  encodedPairs,
  type Gap,
  isSpelledTwice,
  spellingsOf,
  utf8,
} from './encodings.ts'

/** How far a pattern got at a place of the text. */
export interface Reading {
  /** Where the match ends; -1 where there is none. */
  end: number
  /** Whether more text could make a match, or a longer one. */
  isCutOff: boolean
  /** Characters of the pattern that were found. */
  found: number
}

export interface PatternOptions {
  /** For characters that have two ways to be written, the other one: `alternatesOf` makes it. */
  alternates?: Alternates
  /** What may break the text before a character: before those at `gapsAt`, or before each. */
  gap?: Gap
  gapsAt?: ReadonlySet<number>
  hasPadding?: boolean
}

/** By the code of an ASCII character, that of the other way to write it; 0 where there is none. */
export type Alternates = Uint8Array

export function alternatesOf(pairs: readonly (readonly [from: string, to: string])[]): Alternates {
  const alternates = new Uint8Array(128)
  for (const [from, to] of pairs) alternates[from.charCodeAt(0)] = to.charCodeAt(0)
  return alternates
}

const NO_ALTERNATES = alternatesOf([])
const alternateOf = (code: number, alternates: Alternates) => (code < 128 ? (alternates[code] ?? 0) : 0)

const BACKSLASH = 0x5c
const MISMATCH = -1
const NOTHING: Reading = { end: -1, isCutOff: false, found: 0 }

/** A secret text, or an encoding of it as a whole, each of whose characters may be encoded once more. */
export class SecretPattern {
  /** Code points. */
  readonly #codes: Uint32Array
  readonly #alternates: Alternates
  readonly #gap: Gap | null
  readonly #gapsAt: ReadonlySet<number> | null
  readonly #hasPadding: boolean

  constructor(text: string, { alternates = NO_ALTERNATES, gap, gapsAt, hasPadding = false }: PatternOptions = {}) {
    this.#codes = codesOf(text)
    this.#alternates = alternates
    this.#gap = gap ?? null
    this.#gapsAt = gapsAt ?? null
    this.#hasPadding = hasPadding
  }

  /** The code units with which the first character is written, if it is not escaped. */
  get firstUnits(): number[] {
    return this.#spellingsAt(0).map((text) => text.charCodeAt(0))
  }

  /** The bytes with which the first character begins in UTF-8. */
  get firstBytes(): number[] {
    return this.#variantsAt(0).flatMap((code) => [...utf8(code)].slice(0, 1))
  }

  /** The pairs of code units with which a match can begin. */
  get firstPairs(): [first: number, second: number][] {
    const next = this.#spellingsAt(1).map((text) => text.charCodeAt(0))
    if (this.#hasGap(1)) next.push(...BLANKS)
    return [
      ...this.#variantsAt(0).flatMap(encodedPairs),
      ...this.#spellingsAt(0).flatMap((text) => {
        const second = text.length > 1 ? [text.charCodeAt(1)] : [...next, ...ESCAPES]
        return second.map((unit): [number, number] => [text.charCodeAt(0), unit])
      }),
    ]
  }

  read(reader: EncodingReader, start: number): Reading {
    reader.isCutOff = false
    let found = this.#countPlain(reader, start, 0)
    if (found === MISMATCH) return NOTHING
    let ends = [start + found]
    while (found < this.#codes.length) {
      const next: number[] = []
      for (const end of ends) this.#addEnds(reader, end, found, next)
      const [only = 0, another] = next
      const plain = next.length === 0 ? MISMATCH : another === undefined ? this.#countPlain(reader, only, found + 1) : 0
      if (plain === MISMATCH) return { end: -1, isCutOff: reader.isCutOff, found }
      found += 1 + plain
      ends = plain === 0 ? next : [only + plain]
    }
    const end = Math.max(...ends)
    return { end: this.#hasPadding ? reader.afterPadding(end) : end, isCutOff: reader.isCutOff, found }
  }

  /**
   * How many of the next characters stand at `at` as they are. Stops where the text could be read in another way.
   * MISMATCH if something stands there with which neither the next character nor a gap can begin.
   */
  #countPlain(reader: EncodingReader, at: number, found: number): number {
    const codes = this.#codes
    const isBehindBackslash = reader.unitAt(at - 1) === BACKSLASH
    for (let index = found; index < codes.length; index += 1) {
      const code = codes[index] ?? 0
      const alternate = alternateOf(code, this.#alternates)
      const place = at + index - found
      const unit = reader.unitAt(place)
      const isSame = (unit === code || unit === alternate) && !isSpelledTwice(code)
      if (isSame && (index > found || !isBehindBackslash)) continue
      if (isSame) return index - found
      const gap = this.#hasGap(index) ? this.#gap : null
      if (reader.mayBegin(place, code, gap)) return index - found
      return alternate !== 0 && reader.mayBegin(place, alternate, gap) ? index - found : MISMATCH
    }
    return codes.length - found
  }

  #addEnds(reader: EncodingReader, at: number, found: number, ends: number[]): void {
    const starts = [at]
    if (this.#gap !== null && this.#hasGap(found)) reader.addGapEnds(at, this.#gap, starts)
    for (const start of starts) for (const code of this.#variantsAt(found)) reader.addEnds(start, code, ends)
  }

  #hasGap(index: number): boolean {
    return this.#gap !== null && index > 0 && (this.#gapsAt === null || this.#gapsAt.has(index))
  }

  #spellingsAt(index: number): string[] {
    return this.#variantsAt(index).flatMap(spellingsOf)
  }

  #variantsAt(index: number): number[] {
    const code = this.#codes[index]
    if (code === undefined) return []
    const alternate = alternateOf(code, this.#alternates)
    return alternate === 0 ? [code] : [code, alternate]
  }
}

/** Line ends of every kind count as one line feed. */
function codesOf(given: string): Uint32Array {
  const text = given.replaceAll('\r\n', '\n')
  const codes = new Uint32Array(text.length)
  let count = 0
  for (let at = 0; at < text.length; count += 1) {
    const code = text.codePointAt(at) ?? 0
    codes[count] = code
    at += code > 0xffff ? 2 : 1
  }
  return codes.subarray(0, count)
}
