import type { Readable } from 'node:stream'

/** Takes a piece of output. While its promise is pending nothing more is read, so that the host has to wait. */
export type Sink = (chunk: Buffer) => void | Promise<void>

/** Reads a stream for as long as it lives, for one sink after the other. What comes while there is none is nobody's. */
export class ChannelReader {
  readonly #stream: Readable
  #sink: Sink | null = null
  #busy = false
  #over = false
  /** All of it is read, and handed on. */
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
    // A reset connection ends the output as well; that the command was lost is the transport's to say.
    stream.on('readable', read).on('end', end).on('close', end).on('error', end)
  }

  /** A sink that fails must say so itself. */
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
