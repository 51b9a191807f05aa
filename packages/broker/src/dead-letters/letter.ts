import { createHash } from 'node:crypto'
import { redactText } from '@slipway/runtime'
import type { Message } from 'amqplib'
import { HEADER } from '../message.ts'
import { WORK_QUEUES, type WorkQueue } from '../topology.ts'

/** What is shown of a dead letter: where and why it failed, without its content. */
export interface DeadLetter {
  /** Equal for copies of one message that failed in the same queue. */
  id: string
  /** The queue in which it failed; null if it was no queue of ours, so that it cannot be replayed. */
  queue: WorkQueue | null
  type: string
  reason: string
  message_id: string
  request_id: string
  sent_at: string
  /** Commands only: past it the command has no effect. */
  deadline: string | null
  bytes: number
}

const ID_LENGTH = 12

export function letterOf(message: Message, namespace: string): DeadLetter {
  const { properties, content } = message
  const headers = properties.headers ?? {}
  const queue = queueOf(headers, namespace)
  const identity = [queue, properties.messageId, properties.type, content.toString('base64')]
  const word = (value: unknown) => (typeof value === 'string' ? printable(value) : '')
  return {
    id: createHash('sha256').update(JSON.stringify(identity)).digest('hex').slice(0, ID_LENGTH),
    queue,
    type: word(properties.type),
    reason: word(headers[HEADER.reason]) || reasonOfBroker(headers),
    message_id: word(properties.messageId),
    request_id: word(headers[HEADER.requestId]),
    sent_at: word(headers[HEADER.timestamp]),
    deadline: typeof headers[HEADER.deadline] === 'string' ? word(headers[HEADER.deadline]) : null,
    bytes: content.length,
  }
}

type Headers = Record<string, unknown>

/** Our headers name the reason. If RabbitMQ gave a message up after too many deliveries, its headers do. */
function queueOf(headers: Headers, namespace: string): WorkQueue | null {
  const ofBroker = String(headers['x-first-death-queue'] ?? '').replace(`${namespace}.`, '')
  const name = headers[HEADER.queue] ?? ofBroker
  return WORK_QUEUES.find((queue) => queue === name) ?? null
}

function reasonOfBroker(headers: Headers): string {
  const reason = headers['x-first-death-reason']
  return typeof reason === 'string' ? `RabbitMQ gave it up: ${printable(reason)}` : 'no reason is known'
}

/** Safe for a terminal: a message of another program may hold control characters, and long texts. */
export function printable(text: string): string {
  const plain = redactText(text).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
  return plain.length > 500 ? `${plain.slice(0, 500)}…` : plain
}
