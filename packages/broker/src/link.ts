import type { Writable } from 'node:stream'
import { fullJitter, type Logger, sleep } from '@slipway/runtime'
import { type ChannelModel, connect } from 'amqplib'
import { Probe } from './probe.ts'

const HEARTBEAT_SECONDS = 10
// A connection is back within 10 s of the broker's return: one attempt that hangs, one wait, and the set-up.
const CONNECT_MS = 4_000
const BACKOFF = { baseMs: 200, capMs: 4_000 }
/** Before the first connection somebody waits for the process to start, perhaps beside a RabbitMQ that does so too. */
const FIRST_BACKOFF = { baseMs: 200, capMs: 1_000 }
/** One in so many of its tries is worth a line. */
const FIRST_LOGGED = 10
/** A connection that lived this long was a good one: the next loss starts with short waits again. */
const STABLE_MS = 5_000
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
  /** Runs when a connection is lost, or its set-up failed. */
  lost(error: Error | undefined): void
}

/** One connection to RabbitMQ that comes back by itself. */
export class Link {
  readonly #options: LinkOptions
  readonly #abort = new AbortController()
  #model: ChannelModel | undefined
  #probe: Probe | undefined
  #blocked = false
  #ready = false
  #wasReady = false
  #ended: Promise<void> | undefined

  constructor(options: LinkOptions) {
    this.#options = options
  }

  start(): void {
    this.#ended = this.#run()
  }

  /** Open, set up, answering, and not told to stop publishing. */
  isUp(): boolean {
    return this.#ready && !this.#blocked && this.#probe?.answers === true
  }

  get blocked(): boolean {
    return this.#blocked
  }

  async close(): Promise<void> {
    this.#abort.abort()
    const model = this.#model
    // Not awaited: an attempt to connect takes up to CONNECT_MS. #live drops what comes of it.
    if (!model) return
    const late = setTimeout(() => cut(model, 'it does not answer to a close'), CLOSE_MS)
    // Not awaited: where the socket is lost during a close, amqplib never says that it is closed.
    model.close().catch(() => {})
    await this.#ended
    clearTimeout(late)
  }

  async #run(): Promise<void> {
    const { logger, label } = this.#options
    for (let attempt = 1; !this.#abort.signal.aborted; attempt++) {
      const started = Date.now()
      const error = await this.#live()
      if (this.#abort.signal.aborted) return
      if (Date.now() - started > STABLE_MS) attempt = 1
      const delayMs = fullJitter(attempt, this.#wasReady ? BACKOFF : FIRST_BACKOFF)
      const reason = error?.message ?? 'it was closed'
      const about = { connection: label, attempt, delay_ms: delayMs, reason }
      if (this.#wasReady) logger.warn('no connection to RabbitMQ, trying again', about)
      else if (attempt % FIRST_LOGGED === 1) logger.info('no connection to RabbitMQ yet, trying again', about)
      await sleep(delayMs, this.#abort.signal)
    }
  }

  /** Connects, sets up and waits until the connection is gone; returns why. */
  async #live(): Promise<Error | undefined> {
    let failure: Error | undefined
    try {
      const model = await connect(withHeartbeat(this.#options.url), {
        noDelay: true,
        timeout: CONNECT_MS,
        clientProperties: { connection_name: this.#options.label },
      })
      this.#model = model
      writeTogether(model)
      // Listeners before anything is awaited: an 'error' without one would end the process.
      model.on('error', (error: Error) => {
        failure = error
      })
      const gone = new Promise<void>((resolve) => model.on('close', () => resolve()))
      this.#watchBlocking(model)
      if (this.#abort.signal.aborted) cut(model, 'it came too late')
      else await this.#prepare(model, gone)
      await gone
    } catch (error) {
      failure = error as Error
    }
    this.#ready = false
    this.#blocked = false
    this.#probe?.stop()
    this.#model = undefined
    this.#options.lost(failure)
    return failure
  }

  async #prepare(model: ChannelModel, gone: Promise<void>): Promise<void> {
    const { logger, label } = this.#options
    try {
      const setup = this.#options.setup(model).then(() => Probe.start(model, () => this.#blocked))
      setup.catch(() => {})
      const probe = await Promise.race([setup, gone])
      if (!probe) return
      this.#probe = probe
      probe.onSilent(() => cut(model, 'it no longer answers'))
      this.#ready = true
      this.#wasReady = true
      this.#options.up()
      logger.info('connected to RabbitMQ', { connection: label })
    } catch (error) {
      cut(model, 'its set-up failed')
      throw error
    }
  }

  #watchBlocking(model: ChannelModel): void {
    model.on('blocked', (reason: string) => {
      this.#blocked = true
      this.#options.logger.warn('RabbitMQ blocks publishing until it has resources again', { reason })
    })
    model.on('unblocked', () => {
      this.#blocked = false
      this.#options.logger.info('RabbitMQ takes messages again')
    })
  }
}

/**
 * Writes what is sent in one go in one piece: amqplib writes each message and each acknowledgement by itself, and the
 * machine takes longer for that than all else takes for them.
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

/** Drops the socket. amqplib notices an error or an end, not a silent destroy. */
function cut(model: ChannelModel, why: string): void {
  const { stream } = model.connection as unknown as { stream: NodeJS.WritableStream & { destroy(error: Error): void } }
  stream.destroy(new Error(`the connection was dropped: ${why}`))
}

function withHeartbeat(url: string): string {
  const parsed = new URL(url)
  if (!parsed.searchParams.has('heartbeat')) parsed.searchParams.set('heartbeat', String(HEARTBEAT_SECONDS))
  return parsed.href
}
