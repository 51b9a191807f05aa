import { MASK } from '@slipway/domain'
import { EncodingReader, firstOfEncoding, LONGEST_ENCODING } from './encodings.ts'
import { patternsOf } from './secret-forms.ts'
import type { SecretPattern } from './secret-pattern.ts'

/** A pair of code units is identified by the lowest 7 bits of each, which is exact for ASCII. */
const PAIRS = 128 * 128
const pairOf = (first: number, second: number) => ((first & 0x7f) << 7) | (second & 0x7f)
const PERCENT = 0x25
const BACKSLASH = 0x5c
/** Fewer characters of a secret than this reveal too little to hold back a line for long. */
const REVEALING_LENGTH = 4

type Interval = { from: number; to: number }

/** Finds sensitive values, each of their lines, and the forms in which programs often print them. */
export class Masker {
  readonly #patterns: readonly SecretPattern[]
  readonly #byFirstUnit = new Map<number, SecretPattern[]>()
  readonly #byFirstByte = new Map<number, SecretPattern[]>()
  readonly #byPair = new Map<number, SecretPattern[]>()
  /** Whether a match can begin with a pair of code units. */
  readonly #pairs = new Uint8Array(PAIRS)

  /**
   * A value that is not a string counts as the text that a command receives.
   * @param base this masker also hides everything that the base hides
   */
  constructor(values: Iterable<unknown>, base?: Masker) {
    this.#patterns = [...(base === undefined ? [] : base.#patterns), ...patternsOf(values)]
    for (const pattern of this.#patterns) {
      for (const unit of pattern.firstUnits) append(this.#byFirstUnit, unit, pattern)
      for (const byte of pattern.firstBytes) append(this.#byFirstByte, byte, pattern)
      for (const [first, second] of pattern.firstPairs) {
        append(this.#byPair, pairOf(first, second), pattern)
        this.#pairs[pairOf(first, second)] = 1
      }
    }
  }

  get isEmpty(): boolean {
    return this.#patterns.length === 0
  }

  mask(text: string): string {
    const stream = new MaskingStream(this)
    return stream.write(text) + stream.end()
  }

  /** The first position from `at` on at which a match may start; the last position if there is none. */
  nextCandidate(units: Uint16Array, at: number): number {
    const pairs = this.#pairs
    const last = units.length - 1
    let first = units[at] ?? 0
    for (let place = at; place < last; place += 1) {
      const second = units[place + 1] ?? 0
      if (pairs[pairOf(first, second)] === 1) return place
      first = second
    }
    return Math.max(at, last)
  }

  /** The patterns of which a match may start here. */
  candidatesAt({ text, units }: EncodingReader, at: number): readonly SecretPattern[] {
    const unit = units[at] ?? 0
    if (unit === PERCENT || unit === BACKSLASH) return this.#encodedCandidates(text, at)
    // The next character has not arrived yet.
    if (at + 1 === units.length) return this.#byFirstUnit.get(unit) ?? []
    return this.#byPair.get(pairOf(unit, units[at + 1] ?? 0)) ?? []
  }

  #encodedCandidates(text: string, at: number): readonly SecretPattern[] {
    if (at + LONGEST_ENCODING > text.length) return this.#patterns
    const { units, bytes } = firstOfEncoding(text, at)
    return [
      ...units.flatMap((unit) => this.#byFirstUnit.get(unit) ?? []),
      ...bytes.flatMap((byte) => this.#byFirstByte.get(byte) ?? []),
    ]
  }
}

/** Masks a text that arrives in pieces. Holds back a possible start of a secret until the next piece arrives. */
export class MaskingStream {
  readonly #masker: Masker
  /** The end of the text: the part that is held back, and earlier text in which a match may start. */
  #text = ''
  /** The end of the part that was returned. */
  #given = 0
  /** Matches that start before this position are found already. */
  #scanned = 0
  /** The intervals of secrets, in order. Secrets that overlap or touch are one interval. */
  #secrets: Interval[] = []
  /** The start of the earliest possible match. */
  #possible = 0
  /** The start of the earliest possible match with at least REVEALING_LENGTH characters. */
  #revealing = 0
  /** Whether the returned text ends with a mask. */
  #endsMasked = false

  constructor(masker: Masker) {
    this.#masker = masker
  }

  /** Whether a line is held back because its end may be the start of a secret. */
  get holdsLine(): boolean {
    return this.#text.includes('\n', this.#given)
  }

  write(text: string): string {
    if (this.#masker.isEmpty) return text
    this.#text += text
    this.#scan()
    return this.#giveOut(this.#certainUntil(this.#possible))
  }

  /** Returns text that is held back for a match too short to reveal a secret. The rest of the secret is still masked. */
  release(): string {
    return this.#giveOut(this.#certainUntil(this.#revealing))
  }

  end(): string {
    return this.#giveOut(this.#text.length)
  }

  #scan(): void {
    const text = this.#text
    const reader = new EncodingReader(text)
    let [possible, revealing] = [text.length, text.length]
    this.#secrets = this.#secrets.filter(({ from }) => from < this.#scanned)
    const masker = this.#masker
    const { units } = reader
    for (
      let at = masker.nextCandidate(units, this.#scanned);
      at < text.length;
      at = masker.nextCandidate(units, at + 1)
    ) {
      for (const pattern of masker.candidatesAt(reader, at)) {
        const { end, isCutOff, found } = pattern.match(reader, at)
        if (end >= 0) addInterval(this.#secrets, { from: at, to: end })
        if (!isCutOff) continue
        possible = Math.min(possible, at)
        if (found >= REVEALING_LENGTH) revealing = Math.min(revealing, at)
      }
    }
    this.#possible = possible
    this.#revealing = revealing
    this.#scanned = possible
  }

  /** The end of the text that is masked in the same way whether or not a match starts at `start`. */
  #certainUntil(start: number): number {
    return this.#secrets.find(({ from, to }) => from <= start && start < to)?.to ?? start
  }

  #giveOut(until: number): string {
    let text = ''
    let at = this.#given
    const addPlain = (to: number) => {
      if (to <= at) return
      text += this.#text.slice(at, to)
      at = to
      this.#endsMasked = false
    }
    for (const { from, to } of this.#secrets) {
      addPlain(Math.min(from, until))
      if (at >= to) continue
      if (at >= until) break
      text += this.#masked(this.#text.slice(at, Math.min(to, until)))
      at = Math.min(to, until)
    }
    addPlain(until)
    this.#given = at
    this.#forget()
    return text
  }

  /** Line breaks stay, so the output has as many lines as the command wrote. */
  #masked(secret: string): string {
    const masked = secret.replace(/[^\r\n]+/g, MASK)
    const shown = this.#endsMasked && masked.startsWith(MASK) ? masked.slice(MASK.length) : masked
    this.#endsMasked = masked.endsWith(MASK)
    return shown
  }

  /** Drops finished text except the last character: a backslash changes the meaning of the next one. */
  #forget(): void {
    const start = Math.min(this.#given, this.#scanned) - 1
    if (start <= 0) return
    this.#text = this.#text.slice(start)
    this.#given -= start
    this.#scanned -= start
    this.#possible -= start
    this.#revealing -= start
    this.#secrets = this.#secrets
      .filter(({ to }) => to > start)
      .map(({ from, to }) => ({ from: from - start, to: to - start }))
  }
}

function append(map: Map<number, SecretPattern[]>, key: number, pattern: SecretPattern): void {
  const known = map.get(key)
  if (known === undefined) map.set(key, [pattern])
  else if (known.at(-1) !== pattern) known.push(pattern)
}

/** Adds an interval that does not start before an earlier one. */
function addInterval(intervals: Interval[], { from, to }: Interval): void {
  const last = intervals.at(-1)
  if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to)
  else intervals.push({ from, to })
}
