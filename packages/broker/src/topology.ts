import { type CommandQueue, EVENTS, eventsOf, isEvent } from '@slipway/contracts'
import type { Channel, Options } from 'amqplib'

/** Queues that services consume and that outlive them. */
export type WorkQueue = CommandQueue | 'dispatcher.events'

type ExchangeName = 'commands' | 'events' | 'dead' | 'dropped' | `retry.${string}`

/** All queues that outlive their consumers. */
export type DurableQueue = WorkQueue | 'dead-letters' | `retry.${(typeof RETRY_DELAYS)[number]['name']}`

interface Exchange {
  name: ExchangeName
  kind: 'direct' | 'topic' | 'fanout'
}

interface Queue {
  name: string
  bindings: { exchange: ExchangeName; keys: string[] }[]
  options: (namespace: string) => Options.AssertQueue
}

/** After this many deliveries without acknowledgement (crash, lost connection) RabbitMQ makes a message a dead letter. */
const DELIVERY_LIMIT = 5
/** After this many failures of a handler, we make a message a dead letter. */
export const MAX_ATTEMPTS = 5

/** Waits before the second, third, … attempt; the last one repeats. */
const RETRY_DELAYS = [
  { name: '1s', ms: 1_000 },
  { name: '5s', ms: 5_000 },
  { name: '15s', ms: 15_000 },
] as const

// Without at-least-once, a broker that crashes while it moves a dead letter loses it. At-least-once needs reject-publish.
const SAFE_QUORUM = {
  'x-queue-type': 'quorum',
  'x-overflow': 'reject-publish',
  'x-dead-letter-strategy': 'at-least-once',
}

const EXCHANGES: Exchange[] = [
  { name: 'commands', kind: 'direct' },
  { name: 'events', kind: 'topic' },
  { name: 'dead', kind: 'fanout' },
  // Receives what exclusive queues drop. Not the default exchange: a user who may write to it reaches every queue.
  { name: 'dropped', kind: 'direct' },
  ...RETRY_DELAYS.map((delay): Exchange => ({ name: `retry.${delay.name}`, kind: 'fanout' })),
]

/** Subscribers with a durable queue, which keeps events while the subscriber is away. */
const DURABLE_SUBSCRIBER = 'dispatcher'
const EVENT_QUEUE = `${DURABLE_SUBSCRIBER}.events` as const

const COMMAND_QUEUES: CommandQueue[] = ['planner.commands', 'dispatcher.commands', 'executor.commands']

export const WORK_QUEUES: readonly WorkQueue[] = [...COMMAND_QUEUES, EVENT_QUEUE]

const work = (name: WorkQueue, exchange: ExchangeName, keys: string[]): Queue => ({
  name,
  bindings: [{ exchange, keys }],
  options: (namespace) => ({
    durable: true,
    arguments: {
      ...SAFE_QUORUM,
      'x-delivery-limit': DELIVERY_LIMIT,
      'x-dead-letter-exchange': exchangeName(namespace, 'dead'),
    },
  }),
})

const QUEUES: Queue[] = [
  ...COMMAND_QUEUES.map((name) => work(name, 'commands', [name])),
  work(EVENT_QUEUE, 'events', eventsOf(DURABLE_SUBSCRIBER)),
  {
    name: 'dead-letters',
    bindings: [{ exchange: 'dead', keys: [''] }],
    options: () => ({ durable: true, arguments: { 'x-queue-type': 'quorum' } }),
  },
  // One queue for each delay: in a queue with mixed delays, a message waits for all messages before it.
  // A message keeps the name of its work queue as routing key and goes back there over the default exchange.
  ...RETRY_DELAYS.map(
    (delay): Queue => ({
      name: `retry.${delay.name}`,
      bindings: [{ exchange: `retry.${delay.name}`, keys: [''] }],
      options: () => ({
        durable: true,
        arguments: { ...SAFE_QUORUM, 'x-message-ttl': delay.ms, 'x-dead-letter-exchange': '' },
      }),
    }),
  ),
]

export const RETRY_EXCHANGES = RETRY_DELAYS.map(({ name }) => `retry.${name}` as const)
/** Without the namespace. */
export const exchangeNames = (): string[] => EXCHANGES.map(({ name }) => name)
export const queueNames = (): string[] => QUEUES.map(({ name }) => name)

export const DURABLE_QUEUES = QUEUES.map(({ name }) => name as DurableQueue)

export function exchangeName(namespace: string, exchange: ExchangeName): string {
  return `${namespace}.${exchange}`
}

export function queueName(namespace: string, queue: DurableQueue): string {
  return `${namespace}.${queue}`
}

/** The exchange in which a message waits after its `attempt`th failure (from 1), and for how long. */
export function retryExchange(namespace: string, attempt: number): { exchange: string; delayMs: number } {
  const delay = RETRY_DELAYS[Math.min(attempt, RETRY_DELAYS.length) - 1] ?? RETRY_DELAYS[0]
  return { exchange: exchangeName(namespace, `retry.${delay.name}`), delayMs: delay.ms }
}

/** Whether some durable queue takes events of this type: then one that reaches no queue is an error. */
export function isDurablyBound(eventType: string): boolean {
  return isEvent(eventType) && EVENTS[eventType].subscribers.some((subscriber) => subscriber === DURABLE_SUBSCRIBER)
}

/** The limit of an exclusive queue, so that a subscriber that hangs does not fill the memory of RabbitMQ. */
const MAX_EVENTS = 50_000

/**
 * A queue for the lifetime of one process: events that arrive while the process is away are not kept. If events are dropped
 * because too many wait, the last of them is in `dropped`.
 */
export async function declareExclusiveQueue(
  channel: Channel,
  options: { namespace: string; name: string; routingKeys: string[]; maxEvents?: number },
): Promise<{ dropped: string }> {
  const { namespace, name, routingKeys, maxEvents = MAX_EVENTS } = options
  const dropped = `${name}.dropped`
  const ofOneReader = { exclusive: true, autoDelete: true, durable: false }
  await channel.assertQueue(dropped, { ...ofOneReader, arguments: { 'x-max-length': 1 } })
  await channel.assertQueue(name, {
    ...ofOneReader,
    arguments: {
      'x-max-length': maxEvents,
      'x-dead-letter-exchange': exchangeName(namespace, 'dropped'),
      'x-dead-letter-routing-key': dropped,
    },
  })
  await channel.bindQueue(dropped, exchangeName(namespace, 'dropped'), dropped)
  for (const key of routingKeys) await channel.bindQueue(name, exchangeName(namespace, 'events'), key)
  return { dropped }
}

/** Declares every exchange, queue and binding. May be repeated; fails with code 406 if one has other properties. */
export async function declareTopology(channel: Channel, namespace: string): Promise<void> {
  for (const exchange of EXCHANGES) {
    await channel.assertExchange(exchangeName(namespace, exchange.name), exchange.kind, { durable: true })
  }
  for (const queue of QUEUES) {
    const name = `${namespace}.${queue.name}`
    await channel.assertQueue(name, queue.options(namespace))
    for (const { exchange, keys } of queue.bindings) {
      for (const key of keys) await channel.bindQueue(name, exchangeName(namespace, exchange), key)
    }
  }
}

/** Checks that every exchange and queue exists, which needs no right. @throws Error with code 404 for the first that does not */
export async function checkTopology(channel: Channel, namespace: string): Promise<void> {
  for (const exchange of EXCHANGES) await channel.checkExchange(exchangeName(namespace, exchange.name))
  for (const queue of QUEUES) await channel.checkQueue(`${namespace}.${queue.name}`)
}

/** Removes everything that declareTopology made, with all messages: for namespaces of tests. */
export async function deleteTopology(channel: Channel, namespace: string): Promise<void> {
  for (const queue of QUEUES) await channel.deleteQueue(`${namespace}.${queue.name}`)
  for (const exchange of EXCHANGES) await channel.deleteExchange(exchangeName(namespace, exchange.name))
}
