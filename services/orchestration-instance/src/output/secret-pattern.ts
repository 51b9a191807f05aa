import {
  BLANKS,
  type EncodingReader,
  ESCAPES,
  encodedPairs,
  type Gap,
  isAmbiguous,
  spellingsOf,
  utf8,
} from './encodings.ts'

/** The result of matching a pattern at one position. */
export interface Match {
  /** The end of the match; -1 without a match. */
  end: number
  /** Whether more text could give a match or a longer match. */
  isCutOff: boolean
  /** Characters of the pattern that were found. */
  found: number
}

export interface PatternOptions {
  /** Second spellings of characters, from `alternatesOf`. */
  alternates?: Alternates
  /** The gap that may come before the characters at `gapsAt`, or before each character. */
  gap?: Gap
  gapsAt?: ReadonlySet<number>
  hasPadding?: boolean
}

/** Maps the code of an ASCII character to the code of its second spelling, or to 0. */
type Alternates = Uint8Array

export function alternatesOf(pairs: readonly (readonly [from: string, to: string])[]): Alternates {
  const alternates = new Uint8Array(128)
  for (const [from, to] of pairs) alternates[from.charCodeAt(0)] = to.charCodeAt(0)
  return alternates
}

const NO_ALTERNATES = alternatesOf([])
const alternateOf = (code: number, alternates: Alternates) => (code < 128 ? (alternates[code] ?? 0) : 0)

const BACKSLASH = 0x5c
const MISMATCH = -1
const NO_MATCH: Match = { end: -1, isCutOff: false, found: 0 }

/** A secret text, or an encoding of the whole text. Each character may be encoded once more. */
export class SecretPattern {
  /** The code points of the text. */
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

  /** The first code units of the unescaped spellings of the first character. */
  get firstUnits(): number[] {
    return this.#spellingsAt(0).map((text) => text.charCodeAt(0))
  }

  /** The first UTF-8 byte of each variant of the first character. */
  get firstBytes(): number[] {
    return this.#variantsAt(0).flatMap((code) => [...utf8(code)].slice(0, 1))
  }

  /** The pairs of code units that can start a match. */
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

  match(reader: EncodingReader, start: number): Match {
    reader.isCutOff = false
    let found = this.#countPlain(reader, start, 0)
    if (found === MISMATCH) return NO_MATCH
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
   * Counts the next characters that stand literally at `at`. Stops where the text could also be an encoding.
   * Returns MISMATCH where neither the next character nor a gap can start.
   */
  #countPlain(reader: EncodingReader, at: number, found: number): number {
    const codes = this.#codes
    const isBehindBackslash = reader.unitAt(at - 1) === BACKSLASH
    for (let index = found; index < codes.length; index += 1) {
      const code = codes[index] ?? 0
      const alternate = alternateOf(code, this.#alternates)
      const place = at + index - found
      const unit = reader.unitAt(place)
      const isSame = (unit === code || unit === alternate) && !isAmbiguous(code)
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

/** The code points of a text, with every kind of line end as one line feed. */
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
