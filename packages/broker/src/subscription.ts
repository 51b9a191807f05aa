import { setImmediate as nextTurn } from 'node:timers/promises'
import { fullJitter, type Logger, sleep } from '@slipway/runtime'
import type { Channel, ChannelModel, ConsumeMessage } from 'amqplib'
import type { OnMessage } from './handling.ts'

const RESUBSCRIBE = { baseMs: 200, capMs: 4_000 }
/** A process that consumes nothing for this long ends, so that its supervisor starts a new one. Not before the first consumer. */
const VANISHED_MS = 15_000

export interface SubscriptionOptions {
  label: string
  prefetch: number
  logger: Logger
  /** Makes sure that the queue is there and returns its name. */
  declare(channel: Channel, model: ChannelModel): Promise<string>
  /** Must not throw. */
  onMessage: OnMessage
  /** Runs when the consumer is lost: from now on messages may be missed. */
  onLost?: () => void
  /** Runs when the consumer is back after a loss: messages may have been missed in between. */
  onResumed?: () => void
  /** See BrokerOptions. */
  vanishedMs?: number | undefined
  onFatal(error: Error): void
}

/** One consumer, which is subscribed again after each loss. */
export class Subscription {
  readonly #options: SubscriptionOptions
  readonly #vanishedMs: number
  readonly #inHand = new Set<Promise<void>>()
  readonly #firstLive: Promise<void>
  #markLive: () => void = () => {}
  #model: ChannelModel | undefined
  /** Aborted when this connection is lost or the consumer stops: no further attempts, and no further messages start. */
  #trying = new AbortController()
  #channel: Channel | undefined
  #consumerTag: string | undefined
  #vanishing: NodeJS.Timeout | undefined
  #stopped = false
  #wasLive = false

  constructor(options: SubscriptionOptions) {
    this.#options = options
    this.#vanishedMs = options.vanishedMs ?? VANISHED_MS
    this.#firstLive = new Promise((resolve) => {
      this.#markLive = resolve
    })
  }

  /** Whether messages can arrive (true as well once it was stopped on purpose). */
  get live(): boolean {
    return this.#stopped || this.#consumerTag !== undefined
  }

  /** Resolves when the consumer is subscribed for the first time, or was stopped before. */
  whenLive(): Promise<void> {
    return this.#firstLive
  }

  /** Consumes on a new connection. */
  attach(model: ChannelModel): void {
    this.#model = model
    this.#trying = new AbortController()
    void this.#subscribe(model)
  }

  detach(): void {
    this.#model = undefined
    this.#trying.abort()
    this.#lose()
  }

  /** Accepts no new messages and finishes the current ones. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#trying.abort()
    clearTimeout(this.#vanishing)
    this.#markLive()
    const [channel, tag] = [this.#channel, this.#consumerTag]
    // Without a channel there is no consumer to cancel.
    if (channel && tag !== undefined) await cancel(channel, tag)
    while (this.#inHand.size > 0) await Promise.allSettled(this.#inHand)
    // Acknowledgements are written two turns later. Without this wait, the connection would close before them.
    for (let turn = 0; turn < 2; turn += 1) await nextTurn()
  }

  #wanted(model: ChannelModel): boolean {
    return this.#model === model && !this.#stopped
  }

  #lose(): void {
    const wasLive = this.#consumerTag !== undefined
    this.#channel = undefined
    this.#consumerTag = undefined
    if (wasLive && !this.#stopped) this.#options.onLost?.()
  }

  /** Repeats until the consumer is subscribed, or the connection is replaced. */
  async #subscribe(model: ChannelModel): Promise<void> {
    clearTimeout(this.#vanishing)
    this.#vanishing = setTimeout(() => this.#failIfVanished(), this.#vanishedMs).unref()
    for (let attempt = 1; this.#wanted(model); attempt++) {
      try {
        await this.#open(model)
        return
      } catch (error) {
        if (!this.#wanted(model)) return
        this.#options.logger.warn('cannot consume, trying again', { consumer: this.#options.label, attempt, error })
        await sleep(fullJitter(attempt, RESUBSCRIBE), this.#trying.signal)
      }
    }
  }

  async #open(model: ChannelModel): Promise<void> {
    const options = this.#options
    const channel = await model.createChannel()
    channel.on('error', (error: Error) =>
      options.logger.warn('RabbitMQ closed a channel', { consumer: options.label, error }),
    )
    channel.on('close', () => void this.#vanished(model, channel))
    this.#channel = channel
    const queue = await options.declare(channel, model)
    await channel.prefetch(options.prefetch)
    const { consumerTag } = await channel.consume(queue, (message) => {
      if (message) this.#take(message, channel)
      // The broker cancelled the consumer, e.g. because the queue was deleted.
      else void channel.close().catch(() => {})
    })
    if (this.#channel !== channel) throw new Error('the channel was closed again')
    this.#consumerTag = consumerTag
    if (this.#stopped) return void (await channel.cancel(consumerTag))
    if (this.#wasLive) options.onResumed?.()
    this.#wasLive = true
    this.#markLive()
  }

  /** Subscribes a lost consumer again. A consumer that never started is retried by #subscribe. */
  async #vanished(model: ChannelModel, channel: Channel): Promise<void> {
    if (this.#channel !== channel) return
    const wasLive = this.#consumerTag !== undefined
    this.#lose()
    // A channel closes just before its connection. In this case the next connection subscribes again.
    await nextTurn()
    if (!wasLive || !this.#wanted(model)) return
    this.#options.logger.warn('RabbitMQ cancelled a consumer, subscribing again', { consumer: this.#options.label })
    await this.#subscribe(model)
  }

  #take(message: ConsumeMessage, channel: Channel): void {
    const work = this.#options.onMessage(message, channel, this.#trying.signal).finally(() => this.#inHand.delete(work))
    this.#inHand.add(work)
  }

  #failIfVanished(): void {
    if (this.live || !this.#wasLive || !this.#model) return
    this.#options.onFatal(
      new Error(
        `${this.#options.label} could not be consumed for ${this.#vanishedMs} ms although RabbitMQ is connected`,
      ),
    )
  }
}

/** A channel that is closing throws, or rejects: either way the consumer is gone. */
async function cancel(channel: Channel, consumerTag: string): Promise<void> {
  try {
    await channel.cancel(consumerTag)
  } catch {
    // The consumer is gone anyway.
  }
}
