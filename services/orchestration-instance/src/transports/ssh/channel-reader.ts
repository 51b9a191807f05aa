import type { Readable } from 'node:stream'

/** Receives a piece of output. No more output is read until its promise resolves, so the host has to wait. */
type Sink = (chunk: Buffer) => void | Promise<void>

/** Reads a stream to its end, for one sink after another. Drops bytes that arrive without a sink. */
export class ChannelReader {
  readonly #stream: Readable
  #sink: Sink | null = null
  #busy = false
  #isStreamOver = false
  /** Resolves when the whole stream is read and passed on. */
  readonly ended: Promise<void>
  #onEnded: () => void = () => {}

  constructor(stream: Readable) {
    this.#stream = stream
    this.ended = new Promise((resolve) => {
      this.#onEnded = resolve
    })
    const read = () => void this.#read()
    const end = () => {
      this.#isStreamOver = true
      read()
    }
    // A reset connection also ends the output. The transport reports the lost command.
    stream.on('readable', read).on('end', end).on('close', end).on('error', end)
  }

  /** A sink must handle its own errors. */
  set sink(sink: Sink | null) {
    this.#sink = sink
  }

  async #read(): Promise<void> {
    if (this.#busy) return
    this.#busy = true
    for (let chunk = this.#stream.read(); chunk !== null; chunk = this.#stream.read()) {
      const taken = this.#sink?.(chunk as Buffer)
      if (taken) await taken
    }
    this.#busy = false
    if (this.#isStreamOver) this.#onEnded()
  }
}
