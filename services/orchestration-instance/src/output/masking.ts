import { MASK } from '@slipway/domain'
import { EncodingReader, firstOfEncoding, LONGEST_ENCODING } from './encodings.ts'
import { patternsOf } from './secret-forms.ts'
import type { SecretPattern } from './secret-pattern.ts'

/** Pairs of code units are told apart by their lowest 7 bits: of ASCII exactly. */
const PAIRS = 128 * 128
const pairOf = (first: number, second: number) => ((first & 0x7f) << 7) | (second & 0x7f)
const PERCENT = 0x25
const BACKSLASH = 0x5c
/** A line that may end with fewer characters of a secret than this tells too little to be kept back for long. */
const TELLING = 4

type Interval = { from: number; to: number }

/** Knows what is hidden: sensitive values, every line of them, and the forms in which programs like to print them. */
export class Masker {
  readonly #patterns: readonly SecretPattern[]
  readonly #byFirstUnit = new Map<number, SecretPattern[]>()
  readonly #byFirstByte = new Map<number, SecretPattern[]>()
  readonly #byPair = new Map<number, SecretPattern[]>()
  /** Whether a match can begin with a pair of code units. */
  readonly #pairs = new Uint8Array(PAIRS)

  /**
   * Values that are no strings count as the text that a command gets.
   * @param base what it hides is hidden, too
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

  /** The first place from `at` on where a match may begin; the length of the text if there is none. */
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

  /** The patterns of which a match may begin here. */
  candidatesAt({ text, units }: EncodingReader, at: number): readonly SecretPattern[] {
    const unit = units[at] ?? 0
    if (unit === PERCENT || unit === BACKSLASH) return this.#encodedCandidates(text, at)
    // What follows the last character is not known.
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

/** Masks a text that comes piece by piece. What could be the beginning of a secret is kept back until more has come. */
export class MaskingStream {
  readonly #masker: Masker
  /** The end of the text: what is kept back, and what comes before as far as a match may begin there. */
  #text = ''
  /** Up to here the text has been given out. */
  #given = 0
  /** From here on matches may begin that are not found yet. */
  #scanned = 0
  /** Where secrets stand, in order; those that overlap or touch are one. */
  #secrets: Interval[] = []
  /** Where the earliest possible match begins, and the earliest of which enough is there to tell something. */
  #possible = 0
  #telling = 0
  /** Whether what was given out ends with a mask. */
  #endsMasked = false

  constructor(masker: Masker) {
    this.#masker = masker
  }

  /** Whether a line is kept back whose end may be the beginning of a secret. */
  get keepsLine(): boolean {
    return this.#text.includes('\n', this.#given)
  }

  write(text: string): string {
    if (this.#masker.isEmpty) return text
    this.#text += text
    this.#scan()
    return this.#giveOut(this.#certainUntil(this.#possible))
  }

  /** Gives out what is kept back for less than tells something. The rest of a secret is masked all the same. */
  release(): string {
    return this.#giveOut(this.#certainUntil(this.#telling))
  }

  /** No more text comes. */
  end(): string {
    return this.#giveOut(this.#text.length)
  }

  #scan(): void {
    const text = this.#text
    const reader = new EncodingReader(text)
    let [possible, telling] = [text.length, text.length]
    this.#secrets = this.#secrets.filter(({ from }) => from < this.#scanned)
    const masker = this.#masker
    const { units } = reader
    for (
      let at = masker.nextCandidate(units, this.#scanned);
      at < text.length;
      at = masker.nextCandidate(units, at + 1)
    ) {
      for (const pattern of masker.candidatesAt(reader, at)) {
        const { end, isCutOff, found } = pattern.read(reader, at)
        if (end >= 0) addInterval(this.#secrets, { from: at, to: end })
        if (!isCutOff) continue
        possible = Math.min(possible, at)
        if (found >= TELLING) telling = Math.min(telling, at)
      }
    }
    this.#possible = possible
    this.#telling = telling
    this.#scanned = possible
  }

  /** Everything before is masked as it will be, whether or not a match begins at `start`. */
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

  /** Line breaks stay: the lines of an output are as many as the command wrote. */
  #masked(secret: string): string {
    const masked = secret.replace(/[^\r\n]+/g, MASK)
    const shown = this.#endsMasked && masked.startsWith(MASK) ? masked.slice(MASK.length) : masked
    this.#endsMasked = masked.endsWith(MASK)
    return shown
  }

  /** Drops what is not needed any more, but for one character: whether that is a backslash decides what comes behind it. */
  #forget(): void {
    const start = Math.min(this.#given, this.#scanned) - 1
    if (start <= 0) return
    this.#text = this.#text.slice(start)
    this.#given -= start
    this.#scanned -= start
    this.#possible -= start
    this.#telling -= start
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

/** Of a place that is not before that of any other. */
function addInterval(intervals: Interval[], { from, to }: Interval): void {
  const last = intervals.at(-1)
  if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to)
  else intervals.push({ from, to })
}
