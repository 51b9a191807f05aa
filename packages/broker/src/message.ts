import { type CallingKey, COMMANDS, type CommandType, type Envelope, EVENTS, validateBody } from '@slipway/contracts'
import { currentTraceparent } from '@slipway/runtime'
import type { ConsumeMessage, Message, Options } from 'amqplib'
import { PoisonMessage } from './errors.ts'
import { exchangeName, isDurablyBound } from './topology.ts'

export interface OutgoingMessage {
  exchange: 'commands' | 'events'
  type: string
  body?: unknown
  /** The body in place of `body`, where it is JSON already. */
  json?: string
  message_id: string
  request_id: string | null
  /** W3C; without it, that of the current trace. */
  traceparent?: string | null
  reply_to?: string
  correlation_id?: string
  /** Commands only, ISO 8601: past it the command is dropped before it has an effect. */
  deadline?: string
  /** Commands only: the API key of the call. */
  api_key?: CallingKey | undefined
}

/** How a message was delivered. */
export interface Delivery {
  replyTo?: string
  correlationId?: string
  /** 1 at first; higher after failures of a handler. */
  attempt: number
  /** Whether the message may have been handled before, by a process or connection that was lost. */
  redelivered: boolean
}

/** A message in the form in which it is sent on a channel. */
export interface WireMessage {
  exchange: string
  routingKey: string
  content: Buffer
  options: Options.Publish & { messageId: string }
}

export const HEADER = {
  requestId: 'x-slipway-request-id',
  timestamp: 'x-slipway-timestamp',
  traceparent: 'traceparent',
  deadline: 'x-slipway-deadline',
  /** JSON. */
  apiKey: 'x-slipway-api-key',
  attempt: 'x-slipway-attempt',
  /** Why a message is dead, or why it is retried. */
  reason: 'x-slipway-reason',
  /** The work queue in which a dead message failed. */
  queue: 'x-slipway-queue',
  /** Which replay of dead letters sent a message again. */
  replay: 'x-slipway-replay',
  /** The number of messages in this batch; see batch.ts. */
  parts: 'x-slipway-parts',
} as const

/** The wire form of a message. Throws when its type is not in the contracts. */
export function encode(message: OutgoingMessage, namespace: string): WireMessage {
  const now = new Date()
  const traceparent = traceparentOf(message)
  return {
    exchange: exchangeName(namespace, message.exchange),
    ...route(message),
    content: Buffer.from(message.json ?? JSON.stringify(message.body)),
    options: {
      messageId: message.message_id,
      type: message.type,
      ...correlation(message),
      ...(message.reply_to === undefined ? {} : { replyTo: message.reply_to }),
      contentType: 'application/json',
      timestamp: Math.floor(now.getTime() / 1000),
      persistent: true,
      mandatory: message.exchange === 'commands' || isDurablyBound(message.type),
      headers: {
        [HEADER.timestamp]: now.toISOString(),
        ...(message.request_id === null ? {} : { [HEADER.requestId]: message.request_id }),
        ...(traceparent === null ? {} : { [HEADER.traceparent]: traceparent }),
        ...(message.deadline === undefined ? {} : { [HEADER.deadline]: message.deadline }),
        ...(message.api_key === undefined ? {} : { [HEADER.apiKey]: JSON.stringify(message.api_key) }),
      },
    },
  }
}

/** The trace that a message is part of. */
export const traceparentOf = ({ traceparent }: OutgoingMessage): string | null =>
  traceparent === undefined ? currentTraceparent() : traceparent

function route(message: OutgoingMessage): { routingKey: string } {
  if (message.exchange === 'events') {
    if (!(message.type in EVENTS)) throw new TypeError(`there is no event ${message.type} in the contracts`)
    return { routingKey: message.type }
  }
  const command = COMMANDS[message.type as CommandType]
  if (!command) throw new TypeError(`there is no command ${message.type} in the contracts`)
  return { routingKey: command.queue }
}

export function correlation(message: Pick<OutgoingMessage, 'correlation_id' | 'request_id'>): {
  correlationId?: string
} {
  const id = message.correlation_id ?? message.request_id
  return id === null ? {} : { correlationId: id }
}

/** Reads a message. Throws PoisonMessage with the reason if the message does not fit the contracts. */
export function decode(message: ConsumeMessage): { envelope: Envelope; delivery: Delivery } {
  const { properties } = message
  const headers = properties.headers ?? {}
  const type = String(properties.type ?? '')
  if (typeof properties.messageId !== 'string') throw new PoisonMessage('it has no message id')
  const body = parse(message.content)
  const problems = validateBody(type, body)
  if (problems.length > 0) throw new PoisonMessage(`its body is not valid: ${problems.slice(0, 5).join('; ')}`)
  const traceparent: unknown = headers[HEADER.traceparent]
  const deadline: unknown = headers[HEADER.deadline]
  if (deadline !== undefined && Number.isNaN(Date.parse(String(deadline)))) {
    throw new PoisonMessage('its deadline is not a time')
  }
  const apiKey = callingKey(headers[HEADER.apiKey])
  return {
    envelope: {
      message_id: properties.messageId,
      type,
      request_id: (headers[HEADER.requestId] as string | undefined) ?? null,
      timestamp: String(headers[HEADER.timestamp] ?? new Date(Number(properties.timestamp ?? 0) * 1000).toISOString()),
      ...(typeof traceparent === 'string' ? { traceparent } : {}),
      ...(deadline === undefined ? {} : { deadline: String(deadline) }),
      ...(apiKey === undefined ? {} : { api_key: apiKey }),
      body,
    },
    delivery: {
      ...(typeof properties.replyTo === 'string' ? { replyTo: properties.replyTo } : {}),
      ...(typeof properties.correlationId === 'string' ? { correlationId: properties.correlationId } : {}),
      attempt: attemptOf(message),
      redelivered: message.fields.redelivered,
    },
  }
}

function callingKey(header: unknown): CallingKey | undefined {
  if (header === undefined) return undefined
  const { id, name } = (parse(Buffer.from(String(header))) ?? {}) as Partial<CallingKey>
  if (typeof id !== 'string' || typeof name !== 'string') throw new PoisonMessage('its API key has no id and name')
  return { id, name }
}

/** How many times handlers have started this message, including this time. */
export function attemptOf(message: ConsumeMessage): number {
  const attempt = Number(message.properties.headers?.[HEADER.attempt] ?? 1)
  return Number.isInteger(attempt) && attempt > 0 ? attempt : 1
}

/** The same message for another exchange: content and properties kept, our headers added, RabbitMQ's own left out. */
export function forward(
  message: Message,
  to: { exchange: string; routingKey: string; headers: Record<string, string | number> },
): WireMessage {
  const { properties } = message
  const kept = Object.entries(properties.headers ?? {}).filter(
    ([name]) => !/^x-(first-|last-)?(death|delivery)/.test(name),
  )
  const given = Object.entries(properties).filter(([name, value]) => value !== undefined && name !== 'headers')
  const {
    deliveryMode: _mode,
    clusterId: _cluster,
    userId: _user,
    expiration: _expiration,
    ...rest
  } = Object.fromEntries(given)
  return {
    exchange: to.exchange,
    routingKey: to.routingKey,
    content: message.content,
    options: {
      ...rest,
      messageId: String(properties.messageId ?? ''),
      persistent: true,
      mandatory: true,
      headers: { ...Object.fromEntries(kept), ...to.headers },
    },
  }
}

function parse(content: Buffer): unknown {
  try {
    return JSON.parse(content.toString('utf8'))
  } catch {
    throw new PoisonMessage('its body is not JSON')
  }
}
