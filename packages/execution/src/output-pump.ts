import type { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'

/** How long after a command's end its output is waited for: a daemon that it left may hold the stream for ever. */
const AFTER_END_MS = 200
/** More than a pipe or socket holds: what comes later was written after the command's end. */
const AFTER_END_BYTES = 1024 * 1024

/**
 * Reads a command's output into `sink`, one chunk at a time. Resolves when the stream ends, or soon after the moment that
 * `ended` names: what was written until then is read, however long the sink takes. The stream is the caller's to close.
 */
export class OutputPump {
  readonly #stream: Readable
  readonly #sink: (chunk: Buffer) => void | Promise<void>
  /** When the command ended, and the grace after it, by performance.now(). */
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
    // A reset connection ends the output as well; that the command was lost is the transport's to say.
    stream.on('end', done).on('close', done).on('error', done)
    stream.on('readable', this.#onReadable)
    this.finished = this.#run()
    // Whoever waits for it is told; until then a failure is nobody's unhandled one.
    this.finished.catch(() => {})
  }

  /** The command has ended. What other processes write to the stream in the next `graceMs` is read as well. */
  ended(graceMs = 0): void {
    this.#endsAt = performance.now() + graceMs
    this.#wake()
  }

  /** There is nothing more of interest, whatever the stream says. */
  stop(): void {
    this.#stopped = true
    this.#wake()
  }

  async #run(): Promise<void> {
    let msLeft = AFTER_END_MS
    let bytesLeft = AFTER_END_BYTES
    let looked = false
    try {
      while (!this.#stopped && bytesLeft > 0) {
        const chunk = this.#stream.read() as Buffer | null
        if (chunk !== null) {
          looked = false
          if (performance.now() >= this.#endsAt) bytesLeft -= chunk.length
          await this.#sink(chunk)
        } else if (this.#streamDone || looked) {
          return
        } else if (msLeft <= 0) {
          // Timers come before what has arrived: a process that had no turn for so long has not looked yet.
          await nextTurn()
          looked = true
        } else {
          const since = performance.now()
          const graceMs = this.#endsAt - since
          await this.#somethingNew(graceMs > 0 ? graceMs : msLeft)
          if (graceMs <= 0) msLeft -= performance.now() - since
        }
      }
    } finally {
      this.#stream.off('readable', this.#onReadable)
    }
  }

  #somethingNew(limitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = limitMs === Number.POSITIVE_INFINITY ? undefined : setTimeout(resolve, limitMs)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}
