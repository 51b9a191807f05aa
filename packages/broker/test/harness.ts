import { randomBytes } from 'node:crypto'
import { PassThrough } from 'node:stream'
import { createLogger, type Logger, sleep, uuidv7 } from '@slipway/runtime'
import { type Channel, type ChannelModel, connect } from 'amqplib'
import { type Broker, type BrokerOptions, connectBroker, deleteTopology, type OutgoingMessage } from '../src/index.ts'

export const RABBITMQ_URL = process.env['RABBITMQ_URL'] ?? 'amqp://127.0.0.1:15680'

/** Waits until the condition holds. The time limit of the test ends the wait. */
export async function eventually(condition: () => unknown | Promise<unknown>): Promise<void> {
  while (!(await condition())) await sleep(20)
}

/** A logger whose lines are available as objects. */
export function recordedLogger(): { logger: Logger; lines: Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = []
  const stream = new PassThrough()
  stream.on('data', (chunk: Buffer) => {
    for (const line of chunk.toString().split('\n')) if (line) lines.push(JSON.parse(line))
  })
  return { logger: createLogger({ service: 'test', level: 'debug', stream }), lines }
}

/** A namespace of its own in the shared RabbitMQ, with every broker that was opened in it. */
export class Harness {
  readonly namespace = `test-broker-${randomBytes(5).toString('hex')}`
  readonly fatal: Error[] = []
  readonly lines: Record<string, unknown>[]
  readonly #logger: Logger
  readonly #open: Broker[] = []
  #model: ChannelModel | undefined
  #channel: Channel | undefined

  constructor() {
    const { logger, lines } = recordedLogger()
    this.#logger = logger
    this.lines = lines
  }

  /** A connected broker of this namespace. `closeBrokers` closes it. */
  async broker(options: Partial<BrokerOptions> = {}): Promise<Broker> {
    const broker = this.connecting(options)
    await broker.connected()
    return broker
  }

  /** Like `broker`, but does not wait for the connection. */
  connecting(options: Partial<BrokerOptions> = {}): Broker {
    const broker = connectBroker({
      url: RABBITMQ_URL,
      namespace: this.namespace,
      name: 'test',
      logger: this.#logger,
      onFatal: (error) => this.fatal.push(error),
      ...options,
    })
    this.#open.push(broker)
    return broker
  }

  /** A plain channel for inspecting RabbitMQ without the broker under test. */
  async channel(): Promise<Channel> {
    this.#model ??= await connect(RABBITMQ_URL)
    if (this.#channel) return this.#channel
    const channel = await this.#model.createChannel()
    // A failed operation closes a channel, so the next call opens a new channel.
    channel.on('error', () => {})
    channel.on('close', () => {
      this.#channel = undefined
    })
    this.#channel = channel
    return channel
  }

  /** The number of log lines with this message. */
  said(message: string): number {
    return this.lines.filter((line) => line['message'] === message).length
  }

  async closeBrokers(): Promise<void> {
    await Promise.all(this.#open.splice(0).map((broker) => broker.close()))
  }

  async remove(): Promise<void> {
    await this.closeBrokers()
    await deleteTopology(await this.channel(), this.namespace)
    await this.#model?.close()
  }
}

/** A command message whose `reason` identifies it. */
export function removeInstance(over: Partial<OutgoingMessage> & { reason?: string } = {}): OutgoingMessage {
  const { reason = 'asked', ...rest } = over
  const caller = { user_id: uuidv7(), username: reason, tenant_id: null, may_override_freezes: true, ip: '127.0.0.1' }
  return {
    exchange: 'commands',
    type: 'instance.delete',
    body: { instance_id: uuidv7(), caller },
    message_id: uuidv7(),
    request_id: null,
    ...rest,
  }
}

export const reasonOf = (body: unknown) => (body as { caller: { username: string } }).caller.username
