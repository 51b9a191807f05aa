import { after, counter, fullJitter, type Logger, sleep } from '@slipway/runtime'
import { FencedError, type PostedBatch } from '../bridge/bridge-client.ts'
import { type Batch, type EventLog, EventsGone } from './event-log.ts'

const sentBatches = counter(
  'slipway_event_batches_sent_total',
  'Batches of events by outcome: accepted, failed (sent again) or fenced (the lease of the run has ended)',
  ['outcome'],
)

/** How long events are collected for a batch that is not full. A batch costs about as much as twenty steps in it. */
const COLLECT_MS = 10
const RETRY = { baseMs: 200, capMs: 5_000 }

interface SenderOptions {
  log: EventLog
  /** Posts a batch. Resolves with the number of the next event that the bridge expects. */
  post(batch: PostedBatch): Promise<number>
  /** Called when the bridge refuses events of this epoch. */
  onFenced(): void
  logger: Logger
}

/** Sends the events of a run to the bridge in order, one batch at a time. Retries without limit. */
export class Sender {
  readonly #options: SenderOptions
  readonly #abort = new AbortController()
  #wake: () => void = () => {}
  #complete = false
  #isAfterStop = false
  #resolveStopped: () => void = () => {}
  /** Resolves when the run or the sender is stopped. */
  readonly #stopped: Promise<void>
  #cursor: number
  #sentAt = Number.NEGATIVE_INFINITY
  readonly #done: Promise<void>
  #resolveDelivered: () => void = () => {}
  /** Resolves when the bridge has acknowledged all events of a complete log. */
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

  /** The log has all events of the run. */
  complete(): void {
    this.#complete = true
    this.#wake()
  }

  /** The run was stopped. From now on batches say so, and the bridge stores only their log lines. */
  afterStop(): void {
    this.#isAfterStop = true
    this.#resolveStopped()
  }

  /** Sends the rest of the log within the time limit. */
  async finish(limitMs: number): Promise<void> {
    this.complete()
    const clearTimer = after(limitMs, () => void this.stop())
    await this.#done
    clearTimer()
  }

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
      if (log.hasDurable(this.#cursor)) {
        const early = this.#sentAt + COLLECT_MS - performance.now()
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

  /** Null if the run cannot continue on this instance. */
  async #nextBatch(): Promise<Batch | null> {
    const { log, onFenced, logger } = this.#options
    try {
      return await log.batch(this.#cursor)
    } catch (error) {
      if (!(error instanceof EventsGone)) throw error
      logger.error('the bridge has lost events that it had acknowledged: the run cannot continue on this instance', {
        error,
      })
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
        if (next > log.next) logger.warn('the bridge has events of this run that its journal does not have', { next })
        log.acknowledge(next)
        this.#cursor = Math.min(next, log.next)
        // The bridge asks for the same events again: back off.
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
        if (attempt === 1 || attempt % 20 === 0)
          logger.warn('events could not be sent: the next attempt follows', { attempt, error })
        await sleep(fullJitter(attempt, RETRY), this.#abort.signal)
      }
    }
  }
}
