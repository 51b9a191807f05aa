import type { Writable } from 'node:stream'
import { type Logger, sleep } from '@slipway/runtime'
import { type ChannelModel, connect, type RecoveringChannelModel } from 'amqplib'
import { Probe } from './probe.ts'

const HEARTBEAT_SECONDS = 10
// A connection is back within 10 s of the broker's return: one attempt that hangs, one wait, and the set-up.
const CONNECT_MS = 4_000
/** Full jitter: each wait is between 0 and twice the delay, 2 s at most. */
const BACKOFF = { initialDelay: 100, maxDelay: 2_000, factor: 2, jitter: 1 }
/** Before the first connection, one attempt in this many is logged. */
const FIRST_LOGGED = 10
const CLOSE_MS = 2_000

export interface LinkOptions {
  url: string
  /** Shown in RabbitMQ's list of connections and in our log lines. */
  label: string
  logger: Logger
  /** Runs on every new connection, before it is used. */
  setup(model: ChannelModel): Promise<void>
  /** Runs when a connection is set up. */
  up(): void
  /** Runs when a connection is lost, or when its set-up failed. */
  lost(error: Error | undefined): void
}

interface Retry {
  attempt: number
  delay: number
  error: Error
}

/** One connection to RabbitMQ. amqplib connects again after each loss. */
export class Link {
  readonly #options: LinkOptions
  #recovery: Promise<RecoveringChannelModel> | undefined
  #model: ChannelModel | undefined
  #probe: Probe | undefined
  #blocked = false
  #isReady = false
  #wasReady = false

  constructor(options: LinkOptions) {
    this.#options = options
  }

  start(): void {
    this.#recovery = this.#connect()
  }

  /** Whether the connection is open and set up, RabbitMQ answers, and RabbitMQ does not block publishing. */
  isUp(): boolean {
    return this.#isReady && !this.#blocked && this.#probe?.answers === true
  }

  get blocked(): boolean {
    return this.#blocked
  }

  async close(): Promise<void> {
    const recovery = await this.#recovery
    const late = new AbortController()
    // amqplib never reports the end of a close if the socket is lost during the close.
    await Promise.race([recovery?.close(), sleep(CLOSE_MS, late.signal)])
    late.abort()
    if (this.#model) cut(this.#model, 'it does not answer to a close')
    this.#lose(undefined)
  }

  async #connect(): Promise<RecoveringChannelModel> {
    const recovery = await connect(withHeartbeat(this.#options.url), {
      noDelay: true,
      timeout: CONNECT_MS,
      clientProperties: { connection_name: this.#options.label },
      recovery: { ...BACKOFF, waitForConnect: false, setup: (model: ChannelModel) => this.#prepare(model) },
    })
    recovery.on('disconnect', (error: Error) => this.#lose(error))
    recovery.on('connect-failed', (error: Error) => this.#lose(error))
    // `disconnect` reports the same loss. Without a listener, an `error` event ends the process.
    recovery.on('error', () => {})
    recovery.on('reconnect-scheduled', (retry: Retry) => this.#log(retry))
    return recovery
  }

  /** amqplib listens to a connection only after its set-up, so this adds the listeners for the set-up itself. */
  async #prepare(model: ChannelModel): Promise<void> {
    this.#model = model
    this.#blocked = false
    writeTogether(model)
    this.#watchBlocking(model)
    model.on('error', () => {})
    const lost = new Promise<never>((_, reject) =>
      model.once('close', (error?: Error) => reject(error ?? new Error('it was closed'))),
    )
    const setup = this.#options.setup(model).then(() => Probe.start(model, () => this.#blocked))
    for (const promise of [lost, setup]) promise.catch(() => {})
    try {
      this.#probe = await Promise.race([setup, lost])
    } catch (error) {
      // amqplib closes the connection next, and would wait without limit for a broker that does not answer.
      cut(model, 'its set-up failed')
      await lost.catch(() => {})
      throw error
    }
    this.#probe.onSilent(() => cut(model, 'it no longer answers'))
    this.#isReady = true
    this.#wasReady = true
    this.#options.up()
    this.#options.logger.info('connected to RabbitMQ', { connection: this.#options.label })
  }

  #lose(error: Error | undefined): void {
    this.#isReady = false
    this.#blocked = false
    this.#probe?.stop()
    this.#model = undefined
    this.#options.lost(error)
  }

  #log({ attempt, delay, error }: Retry): void {
    const { logger, label } = this.#options
    const about = { connection: label, attempt, delay_ms: delay, reason: error.message }
    if (this.#wasReady) logger.warn('no connection to RabbitMQ, trying again', about)
    else if (attempt % FIRST_LOGGED === 1) logger.info('no connection to RabbitMQ yet, trying again', about)
  }

  #watchBlocking(model: ChannelModel): void {
    model.on('blocked', (reason: string) => {
      this.#blocked = true
      this.#options.logger.warn('RabbitMQ blocks publishing: it is short of memory or disk', { reason })
    })
    model.on('unblocked', () => {
      this.#blocked = false
      this.#options.logger.info('RabbitMQ accepts messages again')
    })
  }
}

/**
 * Sends all writes of one turn of the event loop together. amqplib writes each message and each acknowledgement by itself;
 * these system calls cost more CPU than the rest of the work (goal: drain of the queue).
 */
function writeTogether(model: ChannelModel): void {
  const { stream } = model.connection as unknown as { stream: Writable }
  const write = stream.write
  let gathering = false
  stream.write = (...chunk: unknown[]) => {
    if (!gathering) {
      gathering = true
      stream.cork()
      process.nextTick(() => {
        gathering = false
        stream.uncork()
      })
    }
    return Reflect.apply(write, stream, chunk)
  }
}

/** Drops the socket with an error. amqplib does not notice a destroy without one. */
function cut(model: ChannelModel, why: string): void {
  const { stream } = model.connection as unknown as { stream: NodeJS.WritableStream & { destroy(error: Error): void } }
  stream.destroy(new Error(`the connection was dropped: ${why}`))
}

function withHeartbeat(url: string): string {
  const parsed = new URL(url)
  if (!parsed.searchParams.has('heartbeat')) parsed.searchParams.set('heartbeat', String(HEARTBEAT_SECONDS))
  return parsed.href
}
