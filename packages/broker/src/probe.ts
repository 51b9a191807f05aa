import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Channel, ChannelModel } from 'amqplib'

const INTERVAL_MS = 2_000
/** The time between two looks while an answer is late. */
const LATE_MS = 500
/** With the interval this stays below 5 s, the time within which readiness must fall. */
const ANSWER_MS = 2_500
/** After this silence the connection is dropped. Heartbeats alone would need 20 s. */
const SILENT_MS = 6_000

/** Sends a small request to RabbitMQ every two seconds, because an open socket does not prove that RabbitMQ answers. */
export class Probe {
  readonly #channel: Channel
  readonly #paused: () => boolean
  #askedAt = 0
  #open = true
  #answers = true
  #silent: () => void = () => {}
  #timer: NodeJS.Timeout

  private constructor(channel: Channel, paused: () => boolean) {
    this.#channel = channel
    this.#paused = paused
    this.#timer = this.#tickAfter(INTERVAL_MS)
  }

  /** `paused` returns true while no answer can come: RabbitMQ does not read from a connection that it blocks. */
  static async start(model: ChannelModel, paused: () => boolean): Promise<Probe> {
    const channel = await model.createChannel()
    const probe = new Probe(channel, paused)
    channel.on('error', () => {})
    channel.on('close', () => {
      probe.#answers = false
      probe.stop()
    })
    return probe
  }

  get answers(): boolean {
    return this.#answers
  }

  /** Sets what happens when the broker has been silent for too long. */
  onSilent(fn: () => void): void {
    this.#silent = fn
  }

  stop(): void {
    this.#open = false
    clearTimeout(this.#timer)
  }

  #tickAfter(ms: number): NodeJS.Timeout {
    return setTimeout(() => void this.#tick(), ms)
  }

  async #tick(): Promise<void> {
    const isLate = this.#askedAt > 0
    if (isLate) await this.#checkAnswer()
    else this.#ask()
    if (this.#open) this.#timer = this.#tickAfter(isLate ? LATE_MS : INTERVAL_MS)
  }

  async #checkAnswer(): Promise<void> {
    // If this process was busy, the answer may be in the socket. Read it first.
    await nextTurn()
    await nextTurn()
    if (this.#askedAt === 0 || !this.#open) return
    if (this.#paused()) {
      this.#askedAt = performance.now()
      return
    }
    const waited = performance.now() - this.#askedAt
    if (waited >= ANSWER_MS) this.#answers = false
    if (waited >= SILENT_MS) this.#silent()
  }

  #ask(): void {
    if (this.#paused()) return
    this.#askedAt = performance.now()
    try {
      this.#channel.prefetch(1).then(
        () => {
          this.#askedAt = 0
          this.#answers = this.#open
        },
        () => {},
      )
    } catch {
      // The channel is closing; its `close` event follows.
    }
  }
}
