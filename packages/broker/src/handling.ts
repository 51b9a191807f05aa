import type { Envelope } from '@slipway/contracts'
import {
  counter,
  failpoint,
  fullJitter,
  histogram,
  type Logger,
  parseTraceparent,
  redactText,
  Semaphore,
  SpanKind,
  sleep,
  TIMED_OUT,
  traced,
  withContext,
  withTimeout,
} from '@slipway/runtime'
import type { Channel, ConsumeMessage } from 'amqplib'
import { isBatch, partsOf } from './batch.ts'
import { BrokerUnavailable, PoisonMessage } from './errors.ts'
import { attemptOf, type Delivery, decode, forward, HEADER, type WireMessage } from './message.ts'
import { exchangeName, MAX_ATTEMPTS, queueName, retryExchange, type WorkQueue } from './topology.ts'

const handledMessages = counter(
  'slipway_messages_total',
  'Messages of work queues by what became of them: handled, late (past their deadline), retried (again later), postponed (something they need is away) or dead',
  ['queue', 'outcome'],
)

const waitedMessages = histogram(
  'slipway_message_wait_seconds',
  'Time from the sending of a message to its first handling',
  ['queue'],
)

export type Handler = (envelope: Envelope, delivery: Delivery) => Promise<void>

const MOVE = { baseMs: 100, capMs: 4_000 }
/** Waits between attempts while a dependency is away. */
const HOLD = { baseMs: 500, capMs: 3_000 }
/** RabbitMQ closes a channel on which a message stays unacknowledged for half an hour. */
const HELD_MS = 30_000
/** A postponed message waits as after its second failure: 5 s. */
const POSTPONED_AS = 2
/** Longer than all timeouts within a handler together. */
const HANDLER_MS = 120_000

interface Handling {
  namespace: string
  logger: Logger
  handle: Handler
  /** Whether this error of a handler means that a dependency such as Postgres is away. The message is not at fault then. */
  isUnavailable?: ((error: unknown) => boolean) | undefined
  /** The longest time that a handler may take; 120 s unless given. */
  handlerMs?: number | undefined
}

/** Handles one message until it is acknowledged. Returns parts that have not started when `stopping` aborts. */
export type OnMessage = (message: ConsumeMessage, channel: Channel, stopping: AbortSignal) => Promise<void>

/**
 * Handles messages of a work queue. A message ends as handled, late (dropped), failed (retried later) or poison (dead letter).
 * It is acknowledged only after that, so a process that dies loses nothing.
 *
 * While a dependency of the handler is away, the message is held and retried, and no attempt counts: an outage must not turn
 * valid messages into dead letters. Held messages keep their places in the prefetch window, so no further messages arrive.
 */
export function workHandling(
  options: Handling & {
    queue: WorkQueue
    /** The most messages at a time, parts of batches included. */
    prefetch: number
    publish(message: WireMessage): Promise<void>
  },
): OnMessage {
  const { namespace, queue, logger, prefetch } = options
  const isUnavailable = (error: unknown) =>
    error instanceof BrokerUnavailable || options.isUnavailable?.(error) === true
  const semaphore = new Semaphore(prefetch)

  /** Whether RabbitMQ has the message in another queue now. Otherwise the channel is gone, and RabbitMQ delivers it again. */
  const move = async (channel: Channel, to: WireMessage): Promise<boolean> => {
    const open = whileOpen(channel)
    for (let attempt = 1; !open.aborted; attempt++) {
      try {
        await options.publish(to)
        return true
      } catch (error) {
        // A reject would cause an immediate redelivery, which counts as an attempt.
        logger.warn('a failed message cannot be moved yet, trying again', { queue, to: to.exchange, error })
        await sleep(fullJitter(attempt, MOVE), open)
      }
    }
    return false
  }
  const bury = (message: ConsumeMessage, channel: Channel, reason: string) => {
    handledMessages.inc({ queue, outcome: 'dead' })
    logger.error('dead letter: the message cannot be handled', { queue, ...idsOf(message), reason })
    const headers = { [HEADER.reason]: shorten(reason), [HEADER.queue]: queue }
    return move(channel, forward(message, { exchange: exchangeName(namespace, 'dead'), routingKey: '', headers }))
  }
  const retry = (message: ConsumeMessage, channel: Channel, error: unknown) => {
    const attempt = attemptOf(message)
    const reason = error instanceof Error ? error.message : String(error)
    if (attempt >= MAX_ATTEMPTS) return bury(message, channel, `${attempt} attempts failed, the last with: ${reason}`)
    handledMessages.inc({ queue, outcome: 'retried' })
    const { exchange, delayMs } = retryExchange(namespace, attempt)
    logger.warn('a message was not handled, trying again later', {
      queue,
      ...idsOf(message),
      attempt,
      delay_ms: delayMs,
      error,
    })
    const headers = { [HEADER.attempt]: attempt + 1, [HEADER.reason]: shorten(reason) }
    return move(channel, forward(message, { exchange, routingKey: queueName(namespace, queue), headers }))
  }

  /** Sends the message to a delay queue, without counting an attempt. */
  const postpone = (message: ConsumeMessage, channel: Channel, error: unknown) => {
    handledMessages.inc({ queue, outcome: 'postponed' })
    const { exchange, delayMs } = retryExchange(namespace, POSTPONED_AS)
    logger.warn('a message is postponed: a service that it needs is unavailable', {
      queue,
      ...idsOf(message),
      delay_ms: delayMs,
      error,
    })
    return move(channel, forward(message, { exchange, routingKey: queueName(namespace, queue), headers: {} }))
  }

  /** Whether the message can be acknowledged: it was handled, or is in another queue now. */
  const settle = async (message: ConsumeMessage, channel: Channel, stopping: AbortSignal): Promise<boolean> => {
    const holdUntil = performance.now() + HELD_MS
    for (let hold = 1; ; hold += 1) {
      try {
        const outcome = await attemptToHandle(message, options, queue)
        handledMessages.inc({ queue, outcome })
        if (outcome === 'late') logger.info('a command past its deadline was dropped', { queue, ...idsOf(message) })
        return true
      } catch (error) {
        if (error instanceof PoisonMessage) return bury(message, channel, error.message)
        if (!isUnavailable(error)) return retry(message, channel, error)
        const ended = AbortSignal.any([stopping, whileOpen(channel)])
        if (ended.aborted || performance.now() > holdUntil) return postpone(message, channel, error)
        if (hold === 1)
          logger.warn('a message is held: a service that it needs is unavailable', { queue, ...idsOf(message), error })
        await sleep(fullJitter(hold, HOLD), ended)
      }
    }
  }
  const settleParts = async (message: ConsumeMessage, channel: Channel, stopping: AbortSignal): Promise<boolean> => {
    const parts = readParts(message)
    if (parts instanceof PoisonMessage) return bury(message, channel, parts.message)
    const to = { exchange: '', routingKey: queueName(namespace, queue), headers: {} }
    const leave = (part: ConsumeMessage) => move(channel, forward(part, to))
    // One of the parts may have crashed the process. From now on each part goes alone.
    const ends = message.fields.redelivered
      ? parts.map(leave)
      : parts.map((part) => semaphore.run(() => (stopping.aborted ? leave(part) : settle(part, channel, stopping))))
    return (await Promise.all(ends)).every(Boolean)
  }

  return async (message, channel, stopping) => {
    const isDone = isBatch(message)
      ? await settleParts(message, channel, stopping)
      : await semaphore.run(() => settle(message, channel, stopping))
    if (isDone) acknowledge(channel, message)
  }
}

function readParts(message: ConsumeMessage): ConsumeMessage[] | PoisonMessage {
  try {
    return partsOf(message)
  } catch (error) {
    if (error instanceof PoisonMessage) return error
    throw error
  }
}

/** Handles events of an exclusive queue, at most once. An event is a hint: a service that misses it reads the state again. */
export function hintHandling(options: Handling): OnMessage {
  const drop = (message: ConsumeMessage, error: unknown) =>
    options.logger.warn('an event was not handled and is dropped', { ...idsOf(message), error })
  const take = async (message: ConsumeMessage) => {
    try {
      await attemptToHandle(message, options, 'events')
    } catch (error) {
      drop(message, error)
    }
  }
  return async (message, channel) => {
    const parts = isBatch(message) ? readParts(message) : [message]
    if (parts instanceof PoisonMessage) drop(message, parts)
    else await Promise.all(parts.map(take))
    acknowledge(channel, message)
  }
}

async function attemptToHandle(message: ConsumeMessage, options: Handling, queue: string): Promise<'handled' | 'late'> {
  const { envelope, delivery } = decode(message)
  // For a redelivery this would measure the retries.
  if (delivery.attempt === 1 && !delivery.redelivered)
    waitedMessages.observe({ queue }, secondsSince(envelope.timestamp))
  if (envelope.deadline !== undefined && Date.parse(envelope.deadline) <= Date.now()) return 'late'
  const { request_id, message_id, type, traceparent = null } = envelope
  const attributes = {
    'messaging.system': 'rabbitmq',
    'messaging.destination.name': queue,
    'messaging.message.id': message_id,
  }
  const { handlerMs = HANDLER_MS } = options
  const handling = withContext({ request_id, message_id, message_type: type }, () =>
    traced(`process ${type}`, { kind: SpanKind.CONSUMER, parent: traceparent, attributes }, () =>
      options.handle(envelope, delivery),
    ),
  )
  if ((await withTimeout(handlerMs, handling)) === TIMED_OUT)
    throw new Error(`its handler did not end within ${handlerMs} ms`)
  return 'handled'
}

/** Compares the clocks of two machines, so the result may be negative. */
const secondsSince = (timestamp: string) => Math.max(0, (Date.now() - Date.parse(timestamp)) / 1_000)

/** If the channel is gone, RabbitMQ delivers the message again. */
function acknowledge(channel: Channel, message: ConsumeMessage): void {
  failpoint(message, 'before-acknowledge')
  try {
    channel.ack(message)
    failpoint(message, 'after-acknowledge')
  } catch {
    // Nothing to do: handlers are idempotent by message id.
  }
}

const closings = new WeakMap<Channel, AbortSignal>()

/** Aborts when the channel closes. All messages of a channel share one signal. */
function whileOpen(channel: Channel): AbortSignal {
  const known = closings.get(channel)
  if (known) return known
  const closed = new AbortController()
  channel.once('close', () => closed.abort())
  closings.set(channel, closed.signal)
  return closed.signal
}

function idsOf(message: ConsumeMessage): Record<string, unknown> {
  const { messageId, type, headers } = message.properties
  const { traceId } = parseTraceparent(headers?.[HEADER.traceparent]) ?? {}
  return { message_id: messageId, type, request_id: headers?.[HEADER.requestId] ?? null, trace_id: traceId }
}

/** Text for a header, shortened and without passwords in URLs: headers travel with the message. */
function shorten(reason: string): string {
  return redactText(reason).slice(0, 500)
}
