import type { Envelope } from '@slipway/contracts'
import { fullJitter, type Logger, parseTraceparent, redactText, sleep, traced, withContext } from '@slipway/runtime'
import type { Channel, ConsumeMessage } from 'amqplib'
import { PoisonMessage } from './errors.ts'
import { attemptOf, type Delivery, decode, forward, HEADER, type WireMessage } from './message.ts'
import { handledMessages, waitedMessages } from './metrics.ts'
import { exchangeName, MAX_ATTEMPTS, queueName, retryExchange, type WorkQueue } from './topology.ts'

export type Handler = (envelope: Envelope, delivery: Delivery) => Promise<void>

const MOVE = { baseMs: 100, capMs: 4_000 }

interface Handling {
  namespace: string
  logger: Logger
  handle: Handler
}

/**
 * What becomes of a message of a work queue: handled, late (dropped), failed (again later) or poison (dead letter).
 * It is acknowledged only when that is done, so a process that dies meanwhile loses nothing.
 */
export function workHandling(
  options: Handling & {
    queue: WorkQueue
    publish(message: WireMessage): Promise<void>
  },
): (message: ConsumeMessage, channel: Channel) => Promise<void> {
  const { namespace, queue, logger } = options

  const move = async (message: ConsumeMessage, channel: Channel, to: WireMessage) => {
    const open = whileOpen(channel)
    for (let attempt = 1; !open.aborted; attempt++) {
      try {
        await options.publish(to)
        return acknowledge(channel, message)
      } catch (error) {
        // Giving it back instead would have it redelivered at once, and count against it.
        logger.warn('a failed message cannot be moved yet, trying again', { queue, to: to.exchange, error })
        await sleep(fullJitter(attempt, MOVE), open)
      }
    }
  }
  const bury = (message: ConsumeMessage, channel: Channel, reason: string) => {
    handledMessages.inc({ queue, outcome: 'dead' })
    logger.error('dead letter: the message cannot be handled', { queue, ...idsOf(message), reason })
    const headers = { [HEADER.reason]: shorten(reason), [HEADER.queue]: queue }
    return move(
      message,
      channel,
      forward(message, { exchange: exchangeName(namespace, 'dead'), routingKey: '', headers }),
    )
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
    return move(message, channel, forward(message, { exchange, routingKey: queueName(namespace, queue), headers }))
  }

  return async (message, channel) => {
    try {
      const outcome = await attemptToHandle(message, options, queue)
      handledMessages.inc({ queue, outcome })
      if (outcome === 'late') logger.info('a command past its deadline was dropped', { queue, ...idsOf(message) })
      acknowledge(channel, message)
    } catch (error) {
      if (error instanceof PoisonMessage) await bury(message, channel, error.message)
      else await retry(message, channel, error)
    }
  }
}

/** What becomes of an event of an exclusive queue: handled once at most. It is a hint; whoever misses it reads again. */
export function hintHandling(options: Handling): (message: ConsumeMessage, channel: Channel) => Promise<void> {
  return async (message, channel) => {
    try {
      await attemptToHandle(message, options, 'events')
    } catch (error) {
      options.logger.warn('an event was not handled and is dropped', { ...idsOf(message), error })
    }
    acknowledge(channel, message)
  }
}

async function attemptToHandle(message: ConsumeMessage, options: Handling, queue: string): Promise<'handled' | 'late'> {
  const { envelope, delivery } = decode(message)
  // Of one that comes again this would tell how long it was tried.
  if (delivery.attempt === 1 && !delivery.redelivered)
    waitedMessages.observe({ queue }, secondsSince(envelope.timestamp))
  if (envelope.deadline !== undefined && Date.parse(envelope.deadline) <= Date.now()) return 'late'
  const { request_id, message_id, type, traceparent = null } = envelope
  const attributes = {
    'messaging.system': 'rabbitmq',
    'messaging.destination.name': queue,
    'messaging.message.id': message_id,
  }
  await withContext({ request_id, message_id }, () =>
    traced(`process ${type}`, { kind: 'consumer', parent: traceparent, attributes }, () =>
      options.handle(envelope, delivery),
    ),
  )
  return 'handled'
}

/** By two machines' clocks: it may come out below nothing. */
const secondsSince = (timestamp: string) => Math.max(0, (Date.now() - Date.parse(timestamp)) / 1_000)

/** On a channel that is gone the message is no longer ours: it will be delivered again. */
function acknowledge(channel: Channel, message: ConsumeMessage): void {
  try {
    channel.ack(message)
  } catch {
    // Nothing to do: what we did is idempotent by message id.
  }
}

const closings = new WeakMap<Channel, AbortSignal>()

/** Aborted when the channel closes: one signal a channel, however many messages wait on it. */
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
  const { trace_id } = parseTraceparent(headers?.[HEADER.traceparent]) ?? {}
  return { message_id: messageId, type, request_id: headers?.[HEADER.requestId] ?? null, trace_id }
}

/** Headers travel with the message wherever it goes: short, and without passwords in URLs. */
function shorten(reason: string): string {
  return redactText(reason).slice(0, 500)
}
