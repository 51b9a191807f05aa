import type { LogEvent, RunEvent } from '@slipway/contracts'
import { MAX_BATCH_EVENTS } from '@slipway/contracts'
import type { Journal } from '../journal/journal.ts'
import type { JournalDisk } from '../journal/journal-disk.ts'
import type { JournalSpace } from '../journal/journal-space.ts'
import { type NumberedEvent, readEvents, readWaiting } from '../journal/read-journal.ts'
import type { Record } from '../journal/records.ts'
import { withoutTaken } from '../journal/rewrite.ts'

const MAX_BATCH_BYTES = 1024 * 1024
/** The limit of unacknowledged events in memory. Later events are read from the journal when they are sent. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024
/** The limit of bytes that are not on the disk yet. Beyond it, commands wait with their output. */
const MAX_QUEUED_BYTES = 4 * 1024 * 1024
const READ_BYTES = 4 * 1024 * 1024
/** The journal is rewritten when this much of it is acknowledged; earlier with a small limit of the journals. */
const REWRITE_BYTES = 64 * 1024 * 1024
/** The same while the disk is full. */
const COMPACT_BYTES = 256 * 1024
/** The wait after a rewrite found no room. */
const REWRITE_AGAIN_MS = 5_000

export interface Batch {
  first: number
  /** Number after the last one. */
  next: number
  /** The events as a JSON array. */
  events: string
}

/** The position and size of events that are only on the disk. */
export interface Behind {
  position: number
  bytes: number
}

export type Line = Pick<LogEvent, 'target' | 'action' | 'stream' | 'level' | 'text' | 'metadata'>

/** The bridge asks for events that were deleted because it had acknowledged them. */
export class EventsGone extends Error {
  override name = 'EventsGone'
}

/**
 * Numbers a run's events and log lines, writes them to its journal and keeps them until the bridge has them.
 *
 *     an event: numbered ──the journal is flushed──▶ durable, may be sent ──the bridge committed it──▶ acknowledged
 *     in memory: all events that are not acknowledged
 *     behind:    memory is full; later events are in the journal alone, and are read from there when the earlier ones are sent.
 *                It ends when memory has the newest event again
 *     released:  the run is being killed; no command waits for room any more
 */
export class EventLog {
  readonly #journal: Journal
  readonly #space: JournalSpace
  readonly #disk: JournalDisk
  /** The events in memory, from `#acknowledged` on. Not all events, if `#behind` is set. */
  readonly #waiting: NumberedEvent[] = []
  #waitingBytes = 0
  #behind: Behind | null
  #acknowledged: number
  #next: number
  #durable: number
  #nextLine: number
  /** Bytes of events that were acknowledged since the last rewrite of the journal. */
  #takenBytes = 0
  #rewriteFrom = 0
  #rewriting: Promise<void> | null = null
  readonly #stopCompacting: () => void
  readonly #release: Promise<void>
  #resolveRelease = () => {}
  #released = false
  /** The waits for the acknowledgement of an event, by its number. */
  #unknown: { n: number; resolve: () => void }[] = []
  #written: Promise<void> | null = null
  #writable: { free: Promise<void>; promise: Promise<void> } | null = null
  /** Called when there is something new to send. */
  onDurable: () => void = () => {}

  constructor(
    journal: Journal,
    { space, disk }: { space: JournalSpace; disk: JournalDisk },
    start: { nextEvent: number; nextLine: number; acknowledged: number; behind: Behind | null },
  ) {
    this.#journal = journal
    this.#space = space
    this.#disk = disk
    journal.onMoved = (moved) => {
      this.#takenBytes = 0
      if (this.#behind) this.#behind.position = moved(this.#behind.position)
    }
    this.#stopCompacting = disk.whileFull(() => {
      if (this.#shouldRewrite) void this.#rewrite()
    })
    this.#behind = start.behind
    this.#next = start.nextEvent
    this.#durable = start.nextEvent
    this.#acknowledged = start.acknowledged
    this.#nextLine = start.nextLine
    this.#space.take(start.behind?.bytes ?? 0)
    this.#release = new Promise((resolve) => {
      this.#resolveRelease = resolve
    })
  }

  get next(): number {
    return this.#next
  }

  get acknowledged(): number {
    return this.#acknowledged
  }

  /** Returns the event's number. */
  emit(event: RunEvent): number {
    const n = this.#next++
    const text = JSON.stringify(event)
    const position = this.#journal.end
    this.#journal.append(`{"n":${n},"event":${text}}`, () => {
      this.#durable = n + 1
      this.onDurable()
    })
    this.#space.take(text.length)
    if (this.#behind === null && this.#waitingBytes < MAX_WAITING_BYTES) {
      this.#waiting.push({ n, text })
      this.#waitingBytes += text.length
    } else {
      this.#behind ??= { position, bytes: 0 }
      this.#behind.bytes += text.length
    }
    return n
  }

  emitLine(line: Line): void {
    this.emit({ type: 'log', at: new Date().toISOString(), ...line, line: this.#nextLine++ })
  }

  /** Writes down what the bridge need not know. */
  note(record: Record): void {
    this.#journal.append(JSON.stringify(record))
  }

  /** Resolves when the bridge has committed this event; never when the run is given up before. */
  committed(n: number): Promise<void> {
    if (n < this.#acknowledged) return Promise.resolve()
    return new Promise((resolve) => {
      this.#unknown.push({ n, resolve })
    })
  }

  /** Nothing while more output may be read, else a promise of that moment. */
  whenWritable(): Promise<void> | undefined {
    if (this.#released) return undefined
    const roomy = this.#disk.isFull ? this.#disk.whenRoomy() : undefined
    const free = roomy ?? this.#space.whenFree() ?? this.#whenWritten()
    if (free === undefined) return undefined
    // One promise for all who wait for the same moment: each would hang on the release for as long as the run lives.
    if (this.#writable?.free !== free) this.#writable = { free, promise: Promise.race([free, this.#release]) }
    return this.#writable.promise
  }

  /** A disk that is slower than what commands write must not fill the memory. */
  #whenWritten(): Promise<void> | undefined {
    if (this.#journal.queued < MAX_QUEUED_BYTES) return undefined
    this.#written ??= this.#journal.durable().then(() => {
      this.#written = null
    })
    return this.#written
  }

  /** The run is being killed: nobody has to wait any more. */
  release(): void {
    this.#released = true
    this.#resolveRelease()
  }

  /** Nothing is sent from here any more. */
  close(): void {
    this.#stopCompacting()
    this.#space.give(this.#waitingBytes + (this.#behind?.bytes ?? 0))
    this.#waitingBytes = 0
    this.#behind = null
  }

  /** Whether the disk has events from this number on. */
  has(from: number): boolean {
    return this.#durable > from
  }

  /** Whether there is a whole batch from this number on: nothing is gained by waiting for more. */
  fillsBatch(from: number): boolean {
    return this.#durable - from >= MAX_BATCH_EVENTS || this.#waitingBytes >= MAX_BATCH_BYTES || this.#behind !== null
  }

  /**
   * What to send from this number on: only what a loss of power cannot take back. One at a time.
   * @throws EventsGone
   */
  async batch(from: number): Promise<Batch> {
    if (this.#shouldRewrite) await this.#rewrite()
    const events = from < this.#acknowledged ? await this.#again(from) : await this.#fresh(from)
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
    let bytes = 0
    for (const { text } of this.#waiting.splice(0, count)) bytes += text.length
    this.#waitingBytes -= bytes
    this.#acknowledged += count
    this.#tellCommitted()
    this.#journal.appendLater(JSON.stringify({ acknowledged: this.#acknowledged } satisfies Record))
    this.#taken(bytes)
  }

  #tellCommitted(): void {
    if (this.#unknown.length === 0) return
    const known = this.#unknown.filter(({ n }) => n < this.#acknowledged)
    this.#unknown = this.#unknown.filter(({ n }) => n >= this.#acknowledged)
    for (const { resolve } of known) resolve()
  }

  #taken(bytes: number): void {
    this.#takenBytes += bytes
    this.#space.give(bytes)
  }

  async #fresh(from: number): Promise<string[]> {
    while (this.#behind !== null && from - this.#acknowledged >= this.#waiting.length) await this.#readOn(this.#behind)
    const start = from - this.#acknowledged
    const end = Math.min(start + MAX_BATCH_EVENTS, this.#durable - this.#acknowledged)
    return this.#waiting.slice(start, end).map(({ text }) => text)
  }

  /** Takes into memory what comes next in the journal. */
  async #readOn(behind: Behind): Promise<void> {
    const { events, position } = await readWaiting(this.#journal.file, behind.position, READ_BYTES)
    behind.position = position
    for (const { n, text } of events) {
      behind.bytes -= text.length
      // What the bridge said that it has, though it was not sent from here, is passed over.
      if (n < this.#acknowledged) {
        this.#taken(text.length)
        continue
      }
      this.#waiting.push({ n, text })
      this.#waitingBytes += text.length
    }
    const last = this.#waiting.at(-1)?.n ?? this.#acknowledged - 1
    if (last + 1 === this.#next) this.#behind = null
    // It is still on its way to the disk.
    else if (events.length === 0) await this.#journal.durable()
  }

  async #again(from: number): Promise<string[]> {
    const events = await readEvents(this.#journal.file, from, MAX_BATCH_EVENTS)
    if (events[0]?.n !== from) throw new EventsGone(`event ${from} is not kept any more`)
    const contiguous = events.findIndex(({ n }, index) => n !== from + index)
    return events.slice(0, contiguous < 0 ? undefined : contiguous).map(({ event }) => JSON.stringify(event))
  }

  get #shouldRewrite(): boolean {
    if (performance.now() < this.#rewriteFrom) return false
    const limit = this.#disk.isFull ? COMPACT_BYTES : REWRITE_BYTES
    return this.#takenBytes > Math.min(limit, this.#space.maxBytes / 4)
  }

  /** Leaves out the lines that the bridge has: a restart does not need them. */
  #rewrite(): Promise<void> {
    const taken = this.#takenBytes
    this.#rewriting ??= this.#journal.rewrite(withoutTaken(this.#acknowledged)).then(() => {
      this.#rewriting = null
      if (this.#takenBytes >= taken) this.#rewriteFrom = performance.now() + REWRITE_AGAIN_MS
    })
    return this.#rewriting
  }
}
