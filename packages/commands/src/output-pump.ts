import type { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'

/** How long to wait for output after the end of a command. A daemon of the command may keep the stream open without limit. */
const AFTER_END_MS = 200
/** A pipe or socket holds less than this. Later bytes were written after the end of the command. */
const AFTER_END_BYTES = 1024 * 1024
/** Both streams of a command are read by turns, in pieces of at most this size. So their lines keep about the order of the writes. */
const PIECE_BYTES = 4 * 1024

/**
 * Reads the output of a command into `sink`, one chunk at a time. Finishes when the stream ends, or soon after `ended`. Output
 * from before `ended` is always read, even if the sink is slow. The caller closes the stream.
 */
export class OutputPump {
  readonly #stream: Readable
  readonly #sink: (chunk: Buffer) => void | Promise<void>
  /** The end of the command plus the grace, by performance.now(). */
  #endsAt = Number.POSITIVE_INFINITY
  #stopped = false
  #streamDone = false
  #wake: () => void = () => {}
  readonly #onReadable = () => this.#wake()
  readonly finished: Promise<void>

  constructor(stream: Readable, sink: (chunk: Buffer) => void | Promise<void>) {
    this.#stream = stream
    this.#sink = sink
    const done = () => {
      this.#streamDone = true
      this.#wake()
    }
    // A reset connection also ends the output. The transport reports the lost command.
    stream.on('end', done).on('close', done).on('error', done)
    stream.on('readable', this.#onReadable)
    this.finished = this.#run()
    // Prevents an unhandled rejection before the caller waits for `finished`.
    this.finished.catch(() => {})
  }

  /** The command has ended. Output of other processes in the next `graceMs` is still read. */
  ended(graceMs = 0): void {
    this.#endsAt = performance.now() + graceMs
    this.#wake()
  }

  /** Stops reading at once. */
  stop(): void {
    this.#stopped = true
    this.#wake()
  }

  async #run(): Promise<void> {
    let msLeft = AFTER_END_MS
    let bytesLeft = AFTER_END_BYTES
    let isDrained = false
    try {
      while (!this.#stopped && bytesLeft > 0) {
        const chunk = this.#readPiece()
        if (chunk !== null) {
          isDrained = false
          if (performance.now() >= this.#endsAt) bytesLeft -= chunk.length
          await this.#sink(chunk)
          await nextTurn()
        } else if (this.#streamDone || isDrained) {
          return
        } else if (msLeft <= 0) {
          // A timer may fire before arrived bytes are read, if the process was busy. Read them first.
          await nextTurn()
          isDrained = true
        } else {
          const since = performance.now()
          const graceMs = this.#endsAt - since
          await this.#waitForEvent(graceMs > 0 ? graceMs : msLeft)
          if (graceMs <= 0) msLeft -= performance.now() - since
        }
      }
    } finally {
      this.#stream.off('readable', this.#onReadable)
    }
  }

  #readPiece(): Buffer | null {
    const { readableLength } = this.#stream
    return this.#stream.read(readableLength === 0 ? undefined : Math.min(readableLength, PIECE_BYTES))
  }

  #waitForEvent(limitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = limitMs === Number.POSITIVE_INFINITY ? undefined : setTimeout(resolve, limitMs)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}
