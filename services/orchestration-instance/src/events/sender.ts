import { after } from '@slipway/execution'
import { fullJitter, type Logger, sleep } from '@slipway/runtime'
import { FencedError, type PostedBatch } from '../bridge/bridge-client.ts'
import { type Batch, type EventLog, EventsGone } from './event-log.ts'
import { sentBatches } from './metrics.ts'

/** How long events are gathered after a batch, unless they fill the next: each costs about as much as twenty steps in it. */
const GATHER_MS = 10
const RETRY = { baseMs: 200, capMs: 5_000 }

export interface SenderOptions {
  log: EventLog
  /** Posts a batch; answers with the number of the event that the bridge wants next. */
  post(batch: PostedBatch): Promise<number>
  /** The bridge no longer takes events of this epoch. */
  onFenced(): void
  logger: Logger
}

/** Brings a run's events to the bridge, in order, one batch at a time, for as long as it takes. */
export class Sender {
  readonly #options: SenderOptions
  readonly #abort = new AbortController()
  #wake: () => void = () => {}
  #complete = false
  #isAfterStop = false
  #resolveStopped: () => void = () => {}
  /** Resolves when the run is stopped here, or the sender is. */
  readonly #stopped: Promise<void>
  #cursor: number
  #sentAt = Number.NEGATIVE_INFINITY
  readonly #done: Promise<void>
  #resolveDelivered: () => void = () => {}
  /** Resolves when the bridge has all events and no more will come. */
  readonly delivered: Promise<void>

  constructor(options: SenderOptions) {
    this.#options = options
    this.#cursor = options.log.acknowledged
    this.delivered = new Promise((resolve) => {
      this.#resolveDelivered = resolve
    })
    this.#stopped = new Promise((resolve) => {
      this.#resolveStopped = resolve
    })
    options.log.onDurable = () => this.#wake()
    this.#done = this.#run()
  }

  /** No event comes after those in the log. */
  complete(): void {
    this.#complete = true
    this.#wake()
  }

  /** The run was stopped and starts nothing more: the bridge takes its log lines alone, and no longer than a while. */
  afterStop(): void {
    this.#isAfterStop = true
    this.#resolveStopped()
  }

  /** Sends what is in the log, for so long at most. */
  async finish(limitMs: number): Promise<void> {
    this.complete()
    const callOff = after(limitMs, () => void this.stop())
    await this.#done
    callOff()
  }

  /** Gives up, wherever it stands. */
  async stop(): Promise<void> {
    this.#abort.abort()
    this.#resolveStopped()
    this.#wake()
    await this.#done
  }

  async #run(): Promise<void> {
    const { log } = this.#options
    const { signal } = this.#abort
    while (!signal.aborted) {
      if (log.has(this.#cursor)) {
        const early = this.#sentAt + GATHER_MS - performance.now()
        if (early > 0 && !this.#complete && !log.fillsBatch(this.#cursor)) await sleep(early, signal)
        await this.#send()
        this.#sentAt = performance.now()
      } else if (this.#complete && this.#cursor >= log.next) {
        this.#resolveDelivered()
        return
      } else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
      }
    }
  }

  /** Null when there can be none: the run is given up. */
  async #nextBatch(): Promise<Batch | null> {
    const { log, onFenced, logger } = this.#options
    try {
      return await log.batch(this.#cursor)
    } catch (error) {
      if (!(error instanceof EventsGone)) throw error
      logger.error('the bridge has lost events that it had; the run cannot go on here', { error })
      this.#abort.abort()
      onFenced()
      return null
    }
  }

  async #send(): Promise<void> {
    const { log, post, onFenced, logger } = this.#options
    const batch = await this.#nextBatch()
    if (batch === null) return
    for (let attempt = 1; !this.#abort.signal.aborted; attempt++) {
      const afterStop = this.#isAfterStop
      try {
        const next = await post({ first: batch.first, events: batch.events, afterStop })
        sentBatches.inc({ outcome: 'accepted' })
        if (this.#abort.signal.aborted) return
        if (next > log.next) logger.warn('the bridge knows events of this run that its journal has not', { next })
        log.acknowledge(next)
        this.#cursor = Math.min(next, log.next)
        // An answer that asks for the same again is no progress: no haste then.
        if (next < batch.next) await sleep(fullJitter(attempt, RETRY), this.#abort.signal)
        return
      } catch (error) {
        if (this.#abort.signal.aborted) return
        sentBatches.inc({ outcome: error instanceof FencedError ? 'fenced' : 'failed' })
        if (error instanceof FencedError) {
          if (afterStop) return this.#abort.abort()
          onFenced()
          await this.#stopped
          continue
        }
        if (attempt === 1 || attempt % 20 === 0) logger.warn('events are not accepted yet', { attempt, error })
        await sleep(fullJitter(attempt, RETRY), this.#abort.signal)
      }
    }
  }
}
