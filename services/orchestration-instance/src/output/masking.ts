import { MASK } from '@slipway/domain'
import { EncodingReader } from './encodings.ts'
import { maskingShare } from './event-loop-share.ts'
import { type Match, PATTERNS_PER_STEP, PatternSet } from './pattern-set.ts'
import { patternsOf } from './secret-forms.ts'
import { StartFilter } from './start-filter.ts'

/** Fewer characters of a secret than this reveal too little to hold back a line for long. */
const REVEALING_LENGTH = 4
/** A JSON text may have blanks after its first character. */
const JSON_STARTS = ['{', '[']

type Interval = { from: number; to: number }

/** Finds sensitive values, each of their lines, and the forms in which programs often print them. */
export class Masker {
  readonly #sets: PatternSet[] = []
  readonly #filter = new StartFilter()

  /** A value that is not a string counts as the text that a command receives. */
  constructor(values: Iterable<unknown>) {
    const steps = this.#add(values)
    while (!steps.next().done);
  }

  /** Builds the masker of many values in several turns of the event loop. */
  static async build(values: Iterable<unknown>): Promise<Masker> {
    const masker = new Masker([])
    await maskingShare.finish(masker.#add(values))
    return masker
  }

  *#add(values: Iterable<unknown>): Generator<void, void> {
    for (const { kind, patterns } of yield* patternsOf(values)) {
      if (patterns.length === 0) continue
      for (const [index, { text }] of patterns.entries()) {
        if (index % PATTERNS_PER_STEP === 0) yield
        this.#filter.add(text)
        for (const start of JSON_STARTS) if (text.startsWith(start)) this.#filter.addSpecial(start.charCodeAt(0))
      }
      const set = new PatternSet(kind)
      yield* set.fill(patterns)
      this.#sets.push(set)
    }
  }

  get isEmpty(): boolean {
    return this.#sets.length === 0
  }

  mask(text: string): string {
    const stream = new MaskingStream(this)
    return stream.write(text) + stream.end()
  }

  /**
   * Calls `found` for each position from `start` on at which a secret begins, or may begin. Stops at the deadline, by
   * performance.now(), but not before one position is searched. Returns the end of what was searched.
   */
  search(reader: EncodingReader, start: number, deadline: number, found: (at: number, match: Match) => void): number {
    const { units } = reader
    for (let at = this.#filter.next(reader, start); at < units.length; at = this.#filter.next(reader, at + 1)) {
      const codes = reader.isPlain(at) ? null : reader.possibleCodes(at)
      for (const set of this.#sets) {
        if (codes !== null && !codes.some((code) => set.hasFirst(code))) continue
        const match = set.match(reader, at)
        if (match.end >= 0 || match.cutOff >= 0) found(at, match)
      }
      if (performance.now() >= deadline) return at + 1
    }
    return units.length
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
  /** The end of what was searched since the last text arrived. */
  #searched = 0
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

  /** Whether the search stopped at its deadline. `write('')` goes on with it. */
  get isBehind(): boolean {
    return this.#searched < this.#text.length
  }

  write(text: string, deadline = Number.POSITIVE_INFINITY): string {
    if (this.#masker.isEmpty) return text
    if (text !== '') this.#append(text)
    this.#scan(deadline)
    return this.#giveOut(this.#certainUntil(this.#scanned))
  }

  /** Returns text that is held back for a match too short to reveal a secret. The rest of the secret is still masked. */
  release(): string {
    return this.#giveOut(this.#certainUntil(Math.min(this.#revealing, this.#searched)))
  }

  end(): string {
    return this.#giveOut(this.#text.length)
  }

  #append(text: string): void {
    this.#text += text
    this.#possible = this.#text.length
    this.#revealing = this.#text.length
    this.#searched = this.#scanned
    this.#secrets = this.#secrets.filter(({ from }) => from < this.#scanned)
  }

  #scan(deadline: number): void {
    const reader = new EncodingReader(this.#text)
    this.#searched = this.#masker.search(reader, this.#searched, deadline, (at, { end, cutOff }) => {
      if (end >= 0) addInterval(this.#secrets, { from: at, to: end })
      if (cutOff < 0) return
      this.#possible = Math.min(this.#possible, at)
      if (cutOff >= REVEALING_LENGTH) this.#revealing = Math.min(this.#revealing, at)
    })
    this.#scanned = Math.min(this.#possible, this.#searched)
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
    this.#searched -= start
    this.#possible -= start
    this.#revealing -= start
    this.#secrets = this.#secrets
      .filter(({ to }) => to > start)
      .map(({ from, to }) => ({ from: from - start, to: to - start }))
  }
}

/** Adds an interval that does not start before an earlier one. */
function addInterval(intervals: Interval[], { from, to }: Interval): void {
  const last = intervals.at(-1)
  if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to)
  else intervals.push({ from, to })
}
