import { failpoint, fullJitter, type Logger, sleep } from '@slipway/runtime'
import type { ChannelModel, ConfirmChannel, Message } from 'amqplib'
import { BrokerUnavailable, PublishError, type PublishFailure } from './errors.ts'
import type { WireMessage } from './message.ts'

/** Unconfirmed messages at a time: enough to keep the disk of RabbitMQ busy, few enough to repeat after a loss. */
const WINDOW = 256
const CONFIRM_MS = 10_000
const SWEEP_MS = 1_000
/** RabbitMQ 4 accepts 16 MiB. For a larger message it closes the channel, with all messages in flight. */
export const MAX_MESSAGE_BYTES = 15 * 1024 * 1024
const REOPEN = { baseMs: 100, capMs: 4_000 }

interface UnconfirmedMessage {
  message: WireMessage
  sentAt: number
  /** Why RabbitMQ returned the message, if it did; the confirm comes anyway. */
  returned?: string
  settle(failure: Omit<PublishFailure, 'message_id'> | null): void
}

interface PublisherOptions {
  logger: Logger
  /** Runs on each new channel before it is used. */
  prepare(channel: ConfirmChannel, model: ChannelModel): Promise<void>
  /** Runs when a channel is gone. */
  lost?(): void
}

/** A channel with confirms. A message counts as sent only when the broker has confirmed it and did not return it. */
export class Publisher {
  readonly #options: PublisherOptions
  #channel: ConfirmChannel | undefined
  readonly #inFlight = new Set<UnconfirmedMessage>()
  #waiting: UnconfirmedMessage[] = []
  /** Set while messages are in flight. */
  #sweep: NodeJS.Timeout | undefined

  constructor(options: PublisherOptions) {
    this.#options = options
  }

  get open(): boolean {
    return this.#channel !== undefined
  }

  /** Opens a channel on a new connection, and again whenever the broker closes it while the connection lives. */
  async attach(model: ChannelModel): Promise<void> {
    const channel = await model.createConfirmChannel()
    channel.on('error', (error: Error) => this.#options.logger.warn('RabbitMQ closed a publishing channel', { error }))
    channel.on('return', (message: Message) => this.#markReturned(message))
    let closed = false
    channel.on('close', () => {
      closed = true
      if (this.#channel !== channel) return
      this.detach('the channel was closed')
      void this.#reopen(model)
    })
    await this.#options.prepare(channel, model)
    if (closed) throw new Error('RabbitMQ closed the channel while it was prepared')
    this.#channel = channel
  }

  /** Stops using the channel, and fails all messages without a confirm, because confirms may never come after a loss. */
  detach(reason: string): void {
    if (!this.#channel) return
    this.#channel = undefined
    for (const entry of [...this.#inFlight]) entry.settle({ reason, mayHaveBeenSent: true })
    const waiting = this.#waiting
    this.#waiting = []
    for (const entry of waiting) entry.settle({ reason, mayHaveBeenSent: false })
    this.#options.lost?.()
  }

  /** Resolves when all are confirmed; else throws BrokerUnavailable (none was sent) or PublishError (says which failed). */
  async send(messages: WireMessage[]): Promise<void> {
    if (!this.#channel) throw new BrokerUnavailable('there is no connection to RabbitMQ', { mayHaveBeenSent: false })
    const failures: PublishFailure[] = []
    await Promise.all(
      messages.map(async (message) => {
        const failure = await this.#enqueue(message)
        if (failure) failures.push({ message_id: message.options.messageId, ...failure })
      }),
    )
    if (failures.length > 0) throw new PublishError(failures, messages.length)
  }

  stop(): void {
    clearTimeout(this.#sweep)
    this.detach('the connection is being closed')
  }

  #enqueue(message: WireMessage): Promise<Omit<PublishFailure, 'message_id'> | null> {
    if (message.content.length > MAX_MESSAGE_BYTES) {
      const reason = `it has ${message.content.length} bytes, more than the ${MAX_MESSAGE_BYTES} that may be sent`
      return Promise.resolve({ reason, mayHaveBeenSent: false })
    }
    return new Promise((resolve) => {
      const entry: UnconfirmedMessage = {
        message,
        sentAt: 0,
        settle: (failure) => {
          this.#inFlight.delete(entry)
          resolve(failure)
        },
      }
      this.#waiting.push(entry)
      this.#pump()
    })
  }

  #pump(): void {
    while (this.#channel && this.#inFlight.size < WINDOW) {
      const entry = this.#waiting.shift()
      if (!entry) return
      this.#write(this.#channel, entry)
    }
  }

  #write(channel: ConfirmChannel, entry: UnconfirmedMessage): void {
    const { message } = entry
    const { exchange, routingKey, content, options } = message
    entry.sentAt = performance.now()
    this.#inFlight.add(entry)
    this.#sweepLater()
    failpoint(message, 'before-send')
    try {
      channel.publish(exchange, routingKey, content, options, (error) => {
        if (!this.#inFlight.has(entry)) return
        if (error) entry.settle({ reason: `RabbitMQ did not confirm it: ${error.message}`, mayHaveBeenSent: true })
        else if (entry.returned) entry.settle({ reason: entry.returned, mayHaveBeenSent: false })
        else {
          failpoint(message, 'after-send')
          entry.settle(null)
        }
        this.#pump()
      })
    } catch (error) {
      // The channel or its connection is closing.
      entry.settle({ reason: (error as Error).message, mayHaveBeenSent: false })
    }
  }

  #markReturned(message: Message): void {
    const { exchange, routingKey, replyText } = message.fields as typeof message.fields & { replyText?: string }
    for (const entry of this.#inFlight) {
      const sent = entry.message
      const same = sent.options.messageId === message.properties.messageId
      if (same && sent.exchange === exchange && sent.routingKey === routingKey) {
        entry.returned = `no queue takes it: ${exchange} ${routingKey} (${replyText ?? 'returned'})`
      }
    }
  }

  #sweepLater(): void {
    this.#sweep ??= setTimeout(() => this.#failLate(), SWEEP_MS).unref()
  }

  /** The set keeps the order of sending, so late messages come first. */
  #failLate(): void {
    this.#sweep = undefined
    const limit = performance.now() - CONFIRM_MS
    for (const entry of this.#inFlight) {
      if (entry.sentAt > limit) break
      entry.settle({ reason: `no confirm within ${CONFIRM_MS} ms`, mayHaveBeenSent: true })
    }
    this.#pump()
    if (this.#inFlight.size > 0) this.#sweepLater()
  }

  async #reopen(model: ChannelModel): Promise<void> {
    const lost = new AbortController()
    model.once('close', () => lost.abort())
    for (let attempt = 1; !this.#channel; attempt++) {
      await sleep(fullJitter(attempt, REOPEN), lost.signal)
      if (lost.signal.aborted) return
      try {
        await this.attach(model)
      } catch (error) {
        this.#options.logger.warn('a publishing channel cannot be opened, trying again', { attempt, error })
      }
    }
  }
}
