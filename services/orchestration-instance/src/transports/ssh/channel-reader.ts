import type { Readable } from 'node:stream'
import type { OutputStream } from '@slipway/commands'

/** Receives a piece of output. No more output is passed on until its promise resolves, so the host has to wait. */
type Sink = (stream: OutputStream, chunk: Buffer) => void | Promise<void>

/** With more bytes in the queue, the host waits. */
const MAX_QUEUED_BYTES = 256 * 1024

/**
 * Reads both streams of a channel to their ends, for one sink after another. Keeps the order of their packets, unless the sink is
 * slower than the host. Drops bytes that arrive without a sink.
 */
export class ChannelReader {
  readonly #streams: readonly Readable[]
  #sink: Sink | null = null
  #queue: { stream: OutputStream; chunk: Buffer }[] = []
  #queuedBytes = 0
  #openStreams = 2
  #isBusy = false
  /** Resolves when both streams are read and passed on. */
  readonly ended: Promise<void>
  #onEnded: () => void = () => {}

  constructor({ stdout, stderr }: Readonly<Record<OutputStream, Readable>>) {
    this.#streams = [stdout, stderr]
    this.ended = new Promise((resolve) => {
      this.#onEnded = resolve
    })
    this.#read('stdout', stdout)
    this.#read('stderr', stderr)
  }

  /** A sink must handle its own errors. */
  set sink(sink: Sink | null) {
    this.#sink = sink
  }

  #read(stream: OutputStream, readable: Readable): void {
    const take = (chunk: Buffer) => {
      this.#queue.push({ stream, chunk })
      this.#queuedBytes += chunk.length
      if (this.#queuedBytes > MAX_QUEUED_BYTES) for (const each of this.#streams) each.pause()
      void this.#passOn()
    }
    let isOver = false
    const end = () => {
      if (isOver) return
      isOver = true
      this.#openStreams -= 1
      // A closed stream that was paused still has bytes.
      for (let chunk = readable.read(); chunk !== null; chunk = readable.read()) take(chunk)
      void this.#passOn()
    }
    // A reset connection also ends the output. The transport reports the lost command.
    readable.on('data', take).on('end', end).on('close', end).on('error', end)
  }

  async #passOn(): Promise<void> {
    if (this.#isBusy) return
    this.#isBusy = true
    while (this.#queue.length > 0) {
      const queue = this.#queue
      this.#queue = []
      for (const { stream, chunk } of queue) {
        const taken = this.#sink?.(stream, chunk)
        if (taken) await taken
        this.#queuedBytes -= chunk.length
      }
      if (this.#queuedBytes <= MAX_QUEUED_BYTES) for (const each of this.#streams) each.resume()
    }
    this.#isBusy = false
    if (this.#openStreams === 0) this.#onEnded()
  }
}
