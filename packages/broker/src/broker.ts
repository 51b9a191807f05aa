import { randomBytes } from 'node:crypto'
import type { CommandBody, CommandReply, CommandType, ReplyEnvelope } from '@slipway/contracts'
import type { Logger } from '@slipway/runtime'
import type { ChannelModel } from 'amqplib'
import { type Batch, encodeBatch, gather } from './batch.ts'
import { BrokerUnavailable, PublishError, type PublishFailure } from './errors.ts'
import { ExistingTopology } from './existing-topology.ts'
import { type Handler, hintHandling, workHandling } from './handling.ts'
import { inspectQueues, type QueueState } from './inspect.ts'
import { Link } from './link.ts'
import type { OutgoingMessage, WireMessage } from './message.ts'
import { Publisher } from './publisher.ts'
import { Requester, type RequestOptions } from './requester.ts'
import { Subscription, type SubscriptionOptions } from './subscription.ts'
import { type DurableQueue, declareExclusiveQueue, queueName, type WorkQueue } from './topology.ts'

const HINT_PREFETCH = 256

export interface BrokerOptions {
  url: string
  namespace: string
  /** The service's name: shown in RabbitMQ's list of connections. */
  name: string
  logger: Logger
  /** Whether this error of a handler means that a dependency is away. Such an attempt does not count. */
  isUnavailable?: (error: unknown) => boolean
  /** The longest time that a handler may take, in ms; 120 s unless given. */
  handlerMs?: number
  /** How long a queue may be lost on a good connection, in ms; 15 s unless given. */
  vanishedMs?: number
  /**
   * Called when only a new process can help: a queue could no longer be consumed for `vanishedMs`, or RabbitMQ has queues of
   * the same name with other properties.
   */
  onFatal(error: Error): void
}

export interface EventOptions {
  onLost?: () => void
  onResumed?: () => void
}

export interface Broker {
  /** Resolves when messages can be sent and received for the first time. */
  connected(): Promise<void>
  /**
   * Durable, confirmed, at least once. Throws BrokerUnavailable when nothing was sent, PublishError naming the messages
   * that were not confirmed. Any number may be given: 256 are in flight at a time.
   */
  publish(messages: OutgoingMessage[]): Promise<void>
  /** Handles a work queue, `prefetch` messages at a time. Resolves when the consumer is subscribed. See workHandling. */
  consume(queue: WorkQueue, options: { prefetch: number; handle: Handler }): Promise<void>
  /**
   * Events for this process alone, at most once: events are lost while the connection is down. `onLost` is called when the
   * connection is lost, or when events were dropped because this process was too slow. `onResumed` is called when all later
   * events arrive. Resolves when the consumer is subscribed.
   */
  consumeEventsExclusively(routingKeys: string[], handle: Handler, options?: EventOptions): Promise<void>
  /** Sends a command and waits for the answer. Throws TypeError, BrokerUnavailable or RequestTimeout. */
  request<T extends CommandType>(
    type: T,
    body: CommandBody<T>,
    options: RequestOptions,
  ): Promise<ReplyEnvelope<CommandReply<T>>>
  /** Answers a command, best effort. Any service that has the command may answer. Without a reply address it does nothing. */
  reply(replyTo: string | undefined, correlationId: string | undefined, reply: ReplyEnvelope | { json: string }): void
  /** The lengths of queues. Throws BrokerUnavailable without a connection. */
  inspect(queues: readonly DurableQueue[]): Promise<QueueState[]>
  /** Whether messages can be sent and received right now. */
  isUp(): boolean
  /** Accepts no more messages and finishes the current ones. */
  stopConsuming(): Promise<void>
  close(): Promise<void>
}

/** Connects to RabbitMQ and declares all queues, in the background and without limit; see `connected`. */
export function connectBroker(options: BrokerOptions): Broker {
  const { url, namespace, name, logger, isUnavailable, handlerMs, vanishedMs } = options
  const subscriptions: Subscription[] = []
  const first = firstConnection(options)

  const topology = new ExistingTopology({ namespace, name, logger })
  const work = new Publisher({ logger, prepare: (_channel, model) => topology.ensure(model) })
  // Commands and answers have their own channel, so that they do not wait behind the outbox.
  const requester = new Requester({ namespace, logger, prepare: async () => {} })

  // A separate connection, because RabbitMQ stops reading from a connection that publishes too fast, acknowledgements included.
  const publishing = new Link({
    url,
    label: `${name} publish`,
    logger,
    setup: async (model) => {
      await work.attach(model)
      await requester.publisher.attach(model)
    },
    up: () => first.done('publish'),
    lost: (error) => {
      work.detach('the connection to RabbitMQ was lost')
      requester.publisher.detach('the connection to RabbitMQ was lost')
      first.failed(error)
    },
  })
  const consuming = new Link({
    url,
    label: `${name} consume`,
    logger,
    setup: async (model) => {
      for (const subscription of subscriptions) subscription.attach(model)
      attachNew = (subscription) => subscription.attach(model)
      present = model
    },
    up: () => first.done('consume'),
    lost: (error) => {
      attachNew = () => {}
      present = null
      for (const subscription of subscriptions) subscription.detach()
      first.failed(error)
    },
  })
  let attachNew: (subscription: Subscription) => void = () => {}
  let present: ChannelModel | null = null
  const subscribe = (settings: Omit<SubscriptionOptions, 'logger' | 'onFatal' | 'vanishedMs'>) => {
    const subscription = new Subscription({ logger, vanishedMs, onFatal: options.onFatal, ...settings })
    subscriptions.push(subscription)
    attachNew(subscription)
    return subscription.whenLive()
  }
  publishing.start()
  consuming.start()

  return {
    connected: () => first.wait,
    async publish(messages) {
      if (publishing.blocked) {
        throw new BrokerUnavailable('RabbitMQ blocks publishing: it is short of memory or disk', {
          mayHaveBeenSent: false,
        })
      }
      const { wire, idsOf, failures } = encodeAll(messages, namespace)
      try {
        await work.send(wire)
      } catch (error) {
        if (!(error instanceof PublishError)) throw error
        const each = error.failures.flatMap((failure) =>
          (idsOf.get(failure.message_id) ?? []).map((message_id) => ({ ...failure, message_id })),
        )
        failures.push(...each)
      }
      if (failures.length > 0) throw new PublishError(failures, messages.length)
    },
    consume(queue, { prefetch, handle }) {
      const publish = (message: WireMessage) => work.send([message])
      return subscribe({
        label: queueName(namespace, queue),
        prefetch,
        declare: async (_channel, model) => {
          await topology.ensure(model)
          return queueName(namespace, queue)
        },
        onMessage: workHandling({ namespace, queue, logger, prefetch, handle, publish, isUnavailable, handlerMs }),
      })
    },
    consumeEventsExclusively(routingKeys, handle, { onLost, onResumed } = {}) {
      const onDropped = () => {
        logger.warn('events were dropped: this process is too slow', { routing_keys: routingKeys })
        onLost?.()
        onResumed?.()
      }
      return subscribe({
        label: `events ${routingKeys.join(', ')}`,
        prefetch: HINT_PREFETCH,
        declare: async (channel, model) => {
          await topology.ensure(model)
          // A new name each time: RabbitMQ may still keep the old queue for a connection that it believes to be alive.
          const queue = `${namespace}.${name}.events.${randomBytes(6).toString('hex')}`
          const { dropped } = await declareExclusiveQueue(channel, { namespace, name: queue, routingKeys })
          await channel.consume(dropped, (message) => message && onDropped(), { noAck: true })
          return queue
        },
        onMessage: hintHandling({ namespace, logger, handle, handlerMs }),
        ...(onLost ? { onLost } : {}),
        ...(onResumed ? { onResumed } : {}),
      })
    },
    async request(type, body, settings) {
      if (publishing.blocked) {
        throw new BrokerUnavailable('RabbitMQ blocks publishing: it is short of memory or disk', {
          mayHaveBeenSent: false,
        })
      }
      return requester.request(type, body, settings)
    },
    reply: (replyTo, correlationId, body) => requester.reply(replyTo, correlationId, body),
    async inspect(queues) {
      if (present === null)
        throw new BrokerUnavailable('there is no connection to RabbitMQ', { mayHaveBeenSent: false })
      return inspectQueues(present, namespace, queues)
    },
    isUp() {
      const channels = work.open && requester.publisher.open
      return publishing.isUp() && consuming.isUp() && channels && subscriptions.every((each) => each.live)
    },
    async stopConsuming() {
      await Promise.all(subscriptions.map((subscription) => subscription.stop()))
    },
    async close() {
      await Promise.all([consuming.close(), publishing.close()])
      work.stop()
      requester.stop()
    },
  }
}

function encodeAll(messages: OutgoingMessage[], namespace: string) {
  const wire: WireMessage[] = []
  /** The ids of the messages in a batch, by the id of the batch. */
  const idsOf = new Map<string, string[]>()
  const failures: PublishFailure[] = []
  const fail = (ids: string[], error: unknown) =>
    failures.push(
      ...ids.map((message_id) => ({ message_id, reason: (error as Error).message, mayHaveBeenSent: false })),
    )
  const batches: Batch[] = []
  for (const message of messages) {
    try {
      gather(batches, message)
    } catch (error) {
      fail([message.message_id], error)
    }
  }
  for (const batch of batches) {
    const ids = batch.messages.map(({ message_id }) => message_id)
    try {
      const encoded = encodeBatch(batch, namespace)
      wire.push(encoded)
      idsOf.set(encoded.options.messageId, ids)
    } catch (error) {
      fail(ids, error)
    }
  }
  return { wire, idsOf, failures }
}

/** `wait` resolves when both links have been set up. */
function firstConnection({ namespace, onFatal }: BrokerOptions) {
  const missing = new Set(['publish', 'consume'])
  let settle = () => {}
  const wait = new Promise<void>((resolve) => {
    settle = resolve
  })
  return {
    wait,
    done(link: 'publish' | 'consume') {
      missing.delete(link)
      if (missing.size === 0) settle()
    },
    failed(error: Error | undefined) {
      // 406: a queue exists with other properties. Waiting does not change it.
      if (missing.size === 0 || (error as { code?: unknown } | undefined)?.code !== 406) return
      const advice = `delete the queues of ${namespace} or set another SLIPWAY_NAMESPACE`
      onFatal(new Error(`RabbitMQ has queues of this name with other properties: ${advice}`, { cause: error }))
    },
  }
}
