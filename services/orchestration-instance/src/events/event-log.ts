import type { LogEvent, RunEvent } from '@slipway/contracts'
import { MAX_BATCH_EVENTS } from '@slipway/contracts'
import type { Journal } from '../journal/journal.ts'
import { readEvents } from '../journal/read-journal.ts'
import type { Record } from '../journal/records.ts'

const MAX_BATCH_BYTES = 1024 * 1024
/** So much may wait for the bridge in memory; then commands have to wait with their output, until half of it is gone. */
const HIGH_BYTES = 8 * 1024 * 1024
const LOW_BYTES = HIGH_BYTES / 2

/** An event as it goes over the wire. */
export interface NumberedEvent {
  n: number
  text: string
}

export interface Batch {
  first: number
  /** Number after the last one. */
  next: number
  /** The events as a JSON array. */
  events: string
}

export type Line = Pick<LogEvent, 'target' | 'action' | 'stream' | 'level' | 'text' | 'metadata'>

/** Numbers a run's events and log lines, writes them to its journal and keeps them until the bridge has them. */
export class EventLog {
  readonly #journal: Journal
  /** Those from `#acknowledged` to `#next`. */
  #waiting: NumberedEvent[]
  #waitingBytes: number
  #acknowledged: number
  #next: number
  #durable: number
  #nextLine: number
  #released = false
  #whenWritable: { promise: Promise<void>; resolve: () => void } | null = null
  /** Called when there is something new to send. */
  onDurable: () => void = () => {}

  constructor(journal: Journal, start: { nextEvent: number; nextLine: number; waiting?: NumberedEvent[] }) {
    this.#journal = journal
    this.#waiting = start.waiting ?? []
    this.#waitingBytes = this.#waiting.reduce((sum, { text }) => sum + text.length, 0)
    this.#next = start.nextEvent
    this.#durable = start.nextEvent
    this.#acknowledged = this.#waiting[0]?.n ?? start.nextEvent
    this.#nextLine = start.nextLine
  }

  get next(): number {
    return this.#next
  }

  get acknowledged(): number {
    return this.#acknowledged
  }

  emit(event: RunEvent): void {
    const n = this.#next++
    const text = JSON.stringify(event)
    this.#waiting.push({ n, text })
    this.#waitingBytes += text.length
    this.#journal.append(`{"n":${n},"event":${text}}`, () => {
      this.#durable = n + 1
      this.onDurable()
    })
  }

  emitLine(line: Line): void {
    this.emit({ type: 'log', at: new Date().toISOString(), ...line, line: this.#nextLine++ })
  }

  /** Writes down what the bridge need not know. */
  note(record: Record): void {
    this.#journal.append(JSON.stringify(record))
  }

  /** Resolves when everything so far is on the disk; never when the run is given up before. */
  durable(): Promise<void> {
    return this.#journal.durable()
  }

  /** Nothing while more output may be read, else a promise of that moment. */
  whenWritable(): Promise<void> | undefined {
    if (this.#released || this.#waitingBytes < HIGH_BYTES) return undefined
    if (!this.#whenWritable) {
      let resolve = () => {}
      const promise = new Promise<void>((done) => {
        resolve = done
      })
      this.#whenWritable = { promise, resolve }
    }
    return this.#whenWritable.promise
  }

  /** The run is being killed: nobody has to wait any more. */
  release(): void {
    this.#released = true
    this.#whenWritable?.resolve()
  }

  /** Whether the disk has events from this number on. */
  has(from: number): boolean {
    return this.#durable > from
  }

  /** What to send from this number on: only what a loss of power cannot take back. */
  async batch(from: number): Promise<Batch> {
    const events =
      from < this.#acknowledged
        ? (await readEvents(this.#journal.file, from, MAX_BATCH_EVENTS)).map((event) => JSON.stringify(event))
        : this.#inMemory(from)
    const chosen: string[] = []
    let size = 0
    for (const text of events) {
      size += text.length
      if (chosen.length > 0 && size > MAX_BATCH_BYTES) break
      chosen.push(text)
    }
    return { first: from, next: from + chosen.length, events: `[${chosen.join(',')}]` }
  }

  /** The bridge has everything before this number. */
  acknowledge(next: number): void {
    const count = Math.min(next, this.#durable) - this.#acknowledged
    if (count <= 0) return
    for (const { text } of this.#waiting.splice(0, count)) this.#waitingBytes -= text.length
    this.#acknowledged += count
    this.#journal.appendLater(JSON.stringify({ acknowledged: this.#acknowledged } satisfies Record))
    if (this.#waitingBytes > LOW_BYTES) return
    this.#whenWritable?.resolve()
    this.#whenWritable = null
  }

  #inMemory(from: number): string[] {
    const start = from - this.#acknowledged
    const end = Math.min(start + MAX_BATCH_EVENTS, this.#durable - this.#acknowledged)
    return this.#waiting.slice(start, end).map(({ text }) => text)
  }
}
