import { Changes } from './changes.ts'
import { type LogLine, readLines } from './log-reads.ts'

interface Page {
  lines: (LogLine | undefined)[]
  /** How many of its lines are known. */
  known: number
  characters: number
}

const PAGE = 500
/** What is kept; older pages are read again when they come into view. Their lines may be short or long. */
const MAX_PAGES = 200
const MAX_CHARACTERS = 20_000_000
/** Listeners hear of new lines at most this often. */
const TELL_EVERY_MS = 100
/** Lines before and after those in view that are read as well, so that they are there when they come into view. */
const AHEAD = 200
/** How long a view that is scrolled must go on before its lines are read. */
const READ_AFTER_MS = 50
const READS_AT_ONCE = 2
/** How long to wait before a page is read again whose lines did not come. */
const PAUSE_MS = 2_000

/**
 * The log of one deployment as a browser keeps it: how many lines there are, and the pages that were read or streamed last.
 * Memory stays bounded however long the log is.
 */
export class LogStore {
  readonly changes = new Changes(TELL_EVERY_MS)
  count = 0
  /** The unfinished lines of running steps, below the log. */
  partialLines: readonly LogLine[] = []
  readonly #lineListeners = new Set<(line: LogLine) => void>()
  readonly #partialLines = new Map<string, LogLine>()
  readonly #id: string
  /** The one used longest ago is the first. */
  readonly #pages = new Map<number, Page>()
  #characters = 0
  #wanted = { first: 0, end: 0 }
  readonly #reading = new Map<number, AbortController>()
  readonly #resting = new Set<number>()
  #asking: ReturnType<typeof setTimeout> | undefined

  constructor(id: string) {
    this.#id = id
  }

  /** The line, or undefined while it is being read. */
  line(number: number): LogLine | undefined {
    return this.#pages.get(Math.floor(number / PAGE))?.lines[number % PAGE]
  }

  /** Which lines are in view, from `first` to before `end`. They are kept, and read where they are missing. */
  show(first: number, end: number): void {
    this.#wanted = { first: Math.max(0, first - AHEAD), end: Math.min(this.count, end + AHEAD) }
    for (const index of this.#wantedPages()) {
      const page = this.#pages.get(index)
      if (page !== undefined) this.#keep(index, page)
    }
    this.#readSoon()
  }

  /** Shows the unfinished line of a place in place of its last one; null: the line is finished. */
  setPartialLine(place: string, line: LogLine | null): void {
    if (line === null && !this.#partialLines.delete(place)) return
    if (line !== null) this.#partialLines.set(place, line)
    this.partialLines = [...this.#partialLines.values()]
    this.changes.tell()
  }

  add(line: LogLine): void {
    this.count = Math.max(this.count, line.number + 1)
    this.#put(line)
    this.changes.tell()
    for (const listener of this.#lineListeners) listener(line)
  }

  /** Calls the listener with each line that is streamed. Returns how to stop that. */
  onLine(listener: (line: LogLine) => void): () => void {
    this.#lineListeners.add(listener)
    return () => this.#lineListeners.delete(listener)
  }

  setCount(count: number): void {
    this.count = Math.max(this.count, count)
    this.changes.tell()
  }

  #wantedPages(): number[] {
    const { first, end } = this.#wanted
    if (first >= end) return []
    const [from, to] = [Math.floor(first / PAGE), Math.floor((end - 1) / PAGE)]
    return Array.from({ length: to - from + 1 }, (_, place) => from + place)
  }

  #isWhole(index: number): boolean {
    return (this.#pages.get(index)?.known ?? 0) >= Math.min(PAGE, this.count - index * PAGE)
  }

  #readSoon(): void {
    const { first } = this.#wanted
    this.#asking ??= setTimeout(() => {
      this.#asking = undefined
      // What only rushes by is not read.
      if (Math.abs(this.#wanted.first - first) > PAGE) this.#readSoon()
      else this.#readMissing()
    }, READ_AFTER_MS)
  }

  #readMissing(): void {
    const wanted = this.#wantedPages()
    for (const [index, read] of this.#reading) if (!wanted.includes(index)) read.abort()
    for (const index of wanted) {
      if (this.#reading.size >= READS_AT_ONCE) return
      if (!this.#isWhole(index) && !this.#reading.has(index) && !this.#resting.has(index)) void this.#read(index)
    }
  }

  async #read(index: number): Promise<void> {
    const read = new AbortController()
    this.#reading.set(index, read)
    try {
      const lines = await readLines(this.#id, { from: index * PAGE, limit: PAGE, signal: read.signal })
      for (const line of lines) this.#put(line)
      this.changes.tell()
    } catch {
      // No longer in view, or the client has repeated the read for ten seconds: the viewer asks again after a pause.
    }
    this.#reading.delete(index)
    if (!read.signal.aborted && !this.#isWhole(index)) {
      this.#resting.add(index)
      setTimeout(() => {
        this.#resting.delete(index)
        this.#readSoon()
      }, PAUSE_MS)
    }
    this.#readSoon()
  }

  #put(line: LogLine): void {
    const index = Math.floor(line.number / PAGE)
    const page = this.#pages.get(index) ?? { lines: [], known: 0, characters: 0 }
    const place = line.number % PAGE
    if (page.lines[place] === undefined) {
      page.known += 1
      page.characters += line.text.length
      this.#characters += line.text.length
    }
    page.lines[place] = line
    this.#keep(index, page)
  }

  #keep(index: number, page: Page): void {
    this.#pages.delete(index)
    this.#pages.set(index, page)
    for (const [oldest, { characters }] of this.#pages) {
      if (oldest === index || (this.#pages.size <= MAX_PAGES && this.#characters <= MAX_CHARACTERS)) break
      this.#pages.delete(oldest)
      this.#characters -= characters
    }
  }
}
