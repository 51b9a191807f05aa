import type { Readable } from 'node:stream'

/** Receives a piece of output. While its promise is pending nothing more is read, so that the host has to wait. */
export type Sink = (chunk: Buffer) => void | Promise<void>

/** Reads a stream until its end, for one sink after the other. Drops bytes that arrive without a sink. */
export class ChannelReader {
  readonly #stream: Readable
  #sink: Sink | null = null
  #busy = false
  #over = false
  /** Everything is read and passed on. */
  readonly ended: Promise<void>
  #onEnded: () => void = () => {}

  constructor(stream: Readable) {
    this.#stream = stream
    this.ended = new Promise((resolve) => {
      this.#onEnded = resolve
    })
    const read = () => void this.#read()
    const end = () => {
      this.#over = true
      read()
    }
    // A reset connection ends the output, too. The transport reports that the command was lost.
    stream.on('readable', read).on('end', end).on('close', end).on('error', end)
  }

  /** A sink reports its own failures. */
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
    if (this.#over) this.#onEnded()
  }
}
