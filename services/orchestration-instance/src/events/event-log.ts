import { type LogEvent, MAX_BATCH_EVENTS, type RunEvent } from '@slipway/contracts'
import type { StepRef } from '@slipway/domain'
import type { Journal } from '../journal/journal.ts'
import type { JournalDisk } from '../journal/journal-disk.ts'
import type { JournalSpace } from '../journal/journal-space.ts'
import { type NumberedEvent, readEvents, readEventsAt } from '../journal/read-journal.ts'
import type { JournalRecord } from '../journal/records.ts'
import { withoutAcknowledgedLines } from '../journal/rewrite.ts'

const MAX_BATCH_BYTES = 1024 * 1024
/** The limit of unacknowledged events in memory. Later events are read from the journal when they are sent. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024
/** The limit of bytes that wait for the disk. Beyond it, commands wait with their output. */
const MAX_QUEUED_BYTES = 4 * 1024 * 1024
const READ_BYTES = 4 * 1024 * 1024
/** The journal is rewritten when this many bytes are acknowledged; earlier if the limit of the journals is small. */
const REWRITE_BYTES = 64 * 1024 * 1024
/** As REWRITE_BYTES, while the disk is full. */
const COMPACT_BYTES = 256 * 1024
/** The wait after a rewrite found no disk space. */
const REWRITE_RETRY_MS = 5_000

export interface Batch {
  first: number
  /** The number after the last event. */
  next: number
  /** The events as a JSON array. */
  events: string
}

/** The position and size of events that are on the disk and not in memory. */
export interface EventsOnDisk {
  position: number
  bytes: number
}

export type Line = Pick<LogEvent, 'target' | 'action' | 'stream' | 'level' | 'text' | 'metadata'>

/** The bridge asks for events that it had acknowledged and that were deleted. */
export class EventsGone extends Error {
  override name = 'EventsGone'
}

/**
 * Numbers the events and log lines of a run, writes them to its journal and keeps them until the bridge has committed them.
 *
 *     an event: numbered ──the journal is flushed──▶ durable, may be sent ──the bridge committed it──▶ acknowledged
 *     in memory: all events that are not acknowledged
 *     on disk:   memory is full; later events are in the journal alone. They are read when the earlier ones are acknowledged,
 *                until memory has the newest event again
 *     released:  the run is being killed; no command waits for space
 */
export class EventLog {
  readonly #journal: Journal
  readonly #space: JournalSpace
  readonly #disk: JournalDisk
  /** The events in memory, from `#acknowledged` on. With `#onDisk` there are later events on the disk alone. */
  readonly #waiting: NumberedEvent[] = []
  #waitingBytes = 0
  #onDisk: EventsOnDisk | null
  #acknowledged: number
  #next: number
  #durable: number
  #nextLine: number
  /** Bytes of events acknowledged since the last rewrite of the journal. */
  #acknowledgedBytes = 0
  #rewriteFrom = 0
  #rewriting: Promise<void> | null = null
  readonly #stopCompacting: () => void
  readonly #release: Promise<void>
  #resolveRelease = () => {}
  #released = false
  /** The callers of `committed`, with the number of their event. */
  #commitWaiters: { n: number; resolve: () => void }[] = []
  #written: Promise<void> | null = null
  #writable: { free: Promise<void>; promise: Promise<void> } | null = null
  /** Called when a new event may be sent. */
  onDurable: () => void = () => {}

  constructor(
    journal: Journal,
    { space, disk }: { space: JournalSpace; disk: JournalDisk },
    start: { nextEvent: number; nextLine: number; acknowledged: number; onDisk: EventsOnDisk | null },
  ) {
    this.#journal = journal
    this.#space = space
    this.#disk = disk
    journal.onMoved = (moved) => {
      this.#acknowledgedBytes = 0
      if (this.#onDisk) this.#onDisk.position = moved(this.#onDisk.position)
    }
    this.#stopCompacting = disk.whileFull(() => {
      if (this.#shouldRewrite) void this.#rewrite()
    })
    this.#onDisk = start.onDisk
    this.#next = start.nextEvent
    this.#durable = start.nextEvent
    this.#acknowledged = start.acknowledged
    this.#nextLine = start.nextLine
    this.#space.add(start.onDisk?.bytes ?? 0)
    this.#release = new Promise((resolve) => {
      this.#resolveRelease = resolve
    })
  }

  get next(): number {
    return this.#next
  }

  /** The number of the next log line. */
  get nextLine(): number {
    return this.#nextLine
  }

  get acknowledged(): number {
    return this.#acknowledged
  }

  /** Returns the number of the event. */
  emit(event: RunEvent): number {
    const n = this.#next++
    const text = JSON.stringify(event)
    const position = this.#journal.end
    this.#journal.append(`{"n":${n},"event":${text}}`, () => {
      this.#durable = n + 1
      this.onDurable()
    })
    this.#space.add(text.length)
    if (this.#onDisk === null && this.#waitingBytes < MAX_WAITING_BYTES) {
      this.#waiting.push({ n, text })
      this.#waitingBytes += text.length
    } else {
      this.#onDisk ??= { position, bytes: 0 }
      this.#onDisk.bytes += text.length
    }
    return n
  }

  emitLine(line: Line): void {
    this.emit({ type: 'log', at: new Date().toISOString(), ...line, line: this.#nextLine++ })
  }

  /** Adds a line of Slipway to the log, about a step or the whole deployment. */
  emitSystemLine(
    level: 'warning' | 'error',
    step: StepRef | null,
    text: string,
    metadata?: Record<string, unknown>,
  ): void {
    const { target, action } = step ?? { target: null, action: null }
    this.emitLine({ target, action, stream: 'system', level, text, ...(metadata && { metadata }) })
  }

  /** Writes a journal record that is not sent to the bridge. */
  note(record: JournalRecord): void {
    this.#journal.append(JSON.stringify(record))
  }

  /** Resolves when the bridge has committed this event. Never resolves if the run is suspended or discarded before. */
  committed(n: number): Promise<void> {
    if (n < this.#acknowledged) return Promise.resolve()
    return new Promise((resolve) => {
      this.#commitWaiters.push({ n, resolve })
    })
  }

  /** Undefined while commands may write output, else a promise that resolves when they may again. */
  whenWritable(): Promise<void> | undefined {
    if (this.#released) return undefined
    const free =
      (this.#disk.isFull ? this.#disk.whenFree() : undefined) ?? this.#space.whenFree() ?? this.#whenWritten()
    if (free === undefined) return undefined
    // All callers share one promise. Each further race would stay referenced by `#release` until the end of the run.
    if (this.#writable?.free !== free) this.#writable = { free, promise: Promise.race([free, this.#release]) }
    return this.#writable.promise
  }

  /** Without this limit, a disk that is slower than the commands would fill the memory. */
  #whenWritten(): Promise<void> | undefined {
    if (this.#journal.queued < MAX_QUEUED_BYTES) return undefined
    this.#written ??= this.#journal.durable().then(() => {
      this.#written = null
    })
    return this.#written
  }

  /** Ends all waits of `whenWritable`, because the run is being killed. */
  release(): void {
    this.#released = true
    this.#resolveRelease()
  }

  close(): void {
    this.#stopCompacting()
    this.#space.remove(this.#waitingBytes + (this.#onDisk?.bytes ?? 0))
    this.#waitingBytes = 0
    this.#onDisk = null
  }

  /** Whether events from this number on are durable. */
  hasDurable(from: number): boolean {
    return this.#durable > from
  }

  /** Whether there are enough events from this number on for a full batch. */
  fillsBatch(from: number): boolean {
    return this.#durable - from >= MAX_BATCH_EVENTS || this.#waitingBytes >= MAX_BATCH_BYTES || this.#onDisk !== null
  }

  /**
   * The durable events from this number on, up to the limit of a batch. One call at a time.
   * @throws EventsGone
   */
  async batch(from: number): Promise<Batch> {
    if (this.#shouldRewrite) await this.#rewrite()
    const events = from < this.#acknowledged ? await this.#reread(from) : await this.#unacknowledged(from)
    const chosen: string[] = []
    let size = 0
    for (const text of events) {
      size += text.length
      if (chosen.length > 0 && size > MAX_BATCH_BYTES) break
      chosen.push(text)
    }
    return { first: from, next: from + chosen.length, events: `[${chosen.join(',')}]` }
  }

  /** The bridge has committed all events before this number. */
  acknowledge(next: number): void {
    const count = Math.min(next, this.#durable) - this.#acknowledged
    if (count <= 0) return
    let bytes = 0
    for (const { text } of this.#waiting.splice(0, count)) bytes += text.length
    this.#waitingBytes -= bytes
    this.#acknowledged += count
    this.#resolveCommitWaiters()
    this.#journal.appendLater(JSON.stringify({ acknowledged: this.#acknowledged } satisfies JournalRecord))
    this.#countAcknowledged(bytes)
  }

  #resolveCommitWaiters(): void {
    if (this.#commitWaiters.length === 0) return
    const committed = this.#commitWaiters.filter(({ n }) => n < this.#acknowledged)
    this.#commitWaiters = this.#commitWaiters.filter(({ n }) => n >= this.#acknowledged)
    for (const { resolve } of committed) resolve()
  }

  #countAcknowledged(bytes: number): void {
    this.#acknowledgedBytes += bytes
    this.#space.remove(bytes)
  }

  async #unacknowledged(from: number): Promise<string[]> {
    while (this.#onDisk !== null && from - this.#acknowledged >= this.#waiting.length)
      await this.#readFromDisk(this.#onDisk)
    const start = from - this.#acknowledged
    const end = Math.min(start + MAX_BATCH_EVENTS, this.#durable - this.#acknowledged)
    return this.#waiting.slice(start, end).map(({ text }) => text)
  }

  /** Moves the next events from the journal into memory. */
  async #readFromDisk(onDisk: EventsOnDisk): Promise<void> {
    const { events, position } = await readEventsAt(this.#journal.file, onDisk.position, READ_BYTES)
    onDisk.position = position
    for (const { n, text } of events) {
      onDisk.bytes -= text.length
      // An event may be acknowledged before it is read: an earlier process may have sent it.
      if (n < this.#acknowledged) {
        this.#countAcknowledged(text.length)
        continue
      }
      this.#waiting.push({ n, text })
      this.#waitingBytes += text.length
    }
    const last = this.#waiting.at(-1)?.n ?? this.#acknowledged - 1
    if (last + 1 === this.#next) this.#onDisk = null
    // The next event is still on its way to the disk.
    else if (events.length === 0) await this.#journal.durable()
  }

  async #reread(from: number): Promise<string[]> {
    const events = await readEvents(this.#journal.file, from, MAX_BATCH_EVENTS)
    if (events[0]?.n !== from) throw new EventsGone(`event ${from} is no longer in the journal`)
    const contiguous = events.findIndex(({ n }, index) => n !== from + index)
    return events.slice(0, contiguous < 0 ? undefined : contiguous).map(({ event }) => JSON.stringify(event))
  }

  get #shouldRewrite(): boolean {
    if (performance.now() < this.#rewriteFrom) return false
    const limit = this.#disk.isFull ? COMPACT_BYTES : REWRITE_BYTES
    return this.#acknowledgedBytes > Math.min(limit, this.#space.maxBytes / 4)
  }

  /** Removes the log lines that the bridge has. A restart does not need them. */
  #rewrite(): Promise<void> {
    const before = this.#acknowledgedBytes
    this.#rewriting ??= this.#journal.rewrite(withoutAcknowledgedLines(this.#acknowledged)).then(() => {
      this.#rewriting = null
      if (this.#acknowledgedBytes >= before) this.#rewriteFrom = performance.now() + REWRITE_RETRY_MS
    })
    return this.#rewriting
  }
}
