import type { ConsumeMessage } from 'amqplib'
import { PoisonMessage } from './errors.ts'
import { correlation, encode, HEADER, type OutgoingMessage, traceparentOf, type WireMessage } from './message.ts'

/**
 * Combines small messages of one type: RabbitMQ and its clients need about the same time for twenty of them as for one. A request
 * that starts has three messages, so a drain of the queue sends 3,000 a second for 1,000 starts. Goal 4 (drain, 0.2 of BullMQ and
 * twice graphile-worker) is met with 0.21 to 0.29 and 2.4, which leaves no room for three times the messages.
 * Consumers handle, retry and give up each part by itself. The content has two lines for each part: its properties and its
 * body.
 */
export interface Batch {
  messages: OutgoingMessage[]
  /** The encoded bodies; empty for a message that is never combined. */
  texts: string[]
  bytes: number
}

const MAX_PARTS = 20
/** About one AMQP frame: larger contents are split anyway. */
const MAX_BYTES = 100_000
const CONTENT_TYPE = 'application/x-ndjson'
const LINE_END = 0x0a

interface PartHead {
  message_id: string
  request_id: string | null
  traceparent: string | null
}

/** Adds a message to the last batch, or starts a new batch. */
export function gather(batches: Batch[], message: OutgoingMessage): void {
  if (!isPlain(message)) return void batches.push({ messages: [message], texts: [], bytes: MAX_BYTES })
  const text = message.json ?? JSON.stringify(message.body)
  const bytes = Buffer.byteLength(text)
  const last = batches.at(-1)
  if (last && mayJoin(last, message, bytes)) {
    last.messages.push(message)
    last.texts.push(text)
    last.bytes += bytes
  } else batches.push({ messages: [message], texts: [text], bytes })
}

function mayJoin({ messages, texts, bytes }: Batch, message: OutgoingMessage, more: number): boolean {
  const [first] = messages
  return (
    first !== undefined &&
    first.exchange === message.exchange &&
    first.type === message.type &&
    texts.length > 0 &&
    texts.length < MAX_PARTS &&
    bytes + more <= MAX_BYTES
  )
}

/** Only messages without reply address and deadline are combined. */
const isPlain = ({ reply_to, correlation_id, deadline }: OutgoingMessage) =>
  reply_to === undefined && correlation_id === undefined && deadline === undefined

/** The wire form of a batch. Throws if the type is not in the contracts. */
export function encodeBatch({ messages, texts }: Batch, namespace: string): WireMessage {
  const [first] = messages
  const [json] = texts
  if (first === undefined) throw new TypeError('a batch has at least one message')
  if (messages.length === 1) return encode(json === undefined ? first : { ...first, json }, namespace)
  const { exchange, type, message_id } = first
  const lines = messages.map((message, index) => `${JSON.stringify(headOf(message))}\n${texts[index]}\n`)
  const whole = { exchange, type, message_id, json: lines.join(''), request_id: null, traceparent: null }
  const { options, ...wire } = encode(whole, namespace)
  const headers = { ...options.headers, [HEADER.parts]: messages.length }
  return { ...wire, options: { ...options, contentType: CONTENT_TYPE, headers } }
}

const headOf = (message: OutgoingMessage): PartHead => ({
  message_id: message.message_id,
  request_id: message.request_id,
  traceparent: traceparentOf(message),
})

export const isBatch = ({ properties }: ConsumeMessage) => properties.headers?.[HEADER.parts] !== undefined

/** Splits a batch into its messages. Throws PoisonMessage if the content is no batch. */
export function partsOf(message: ConsumeMessage): ConsumeMessage[] {
  const lines = linesOf(message.content)
  if (lines.length === 0 || lines.length !== 2 * Number(message.properties.headers?.[HEADER.parts])) {
    throw new PoisonMessage('the batch does not have as many parts as its header says')
  }
  const { [HEADER.parts]: _parts, ...headers } = message.properties.headers ?? {}
  return lines.flatMap((head, index) => {
    const content = lines[index + 1]
    return index % 2 === 1 || content === undefined ? [] : [partOf(message, headers, parseHead(head), content)]
  })
}

function partOf(
  message: ConsumeMessage,
  common: Record<string, unknown>,
  { message_id, request_id, traceparent }: PartHead,
  content: Buffer,
): ConsumeMessage {
  const headers = {
    ...common,
    ...(request_id === null ? {} : { [HEADER.requestId]: request_id }),
    ...(traceparent === null ? {} : { [HEADER.traceparent]: traceparent }),
  }
  const own = { messageId: message_id, contentType: 'application/json', headers, ...correlation({ request_id }) }
  return { ...message, content, properties: { ...message.properties, correlationId: undefined, ...own } }
}

function parseHead(line: Buffer): PartHead {
  let head: Partial<PartHead> | null = null
  try {
    head = JSON.parse(line.toString('utf8'))
  } catch {
    // The check below reports it.
  }
  const { message_id, request_id = null, traceparent = null } = head ?? {}
  if (typeof message_id !== 'string') throw new PoisonMessage('a part of the batch has no message id')
  return { message_id, request_id, traceparent }
}

/** The lines of the content. JSON contains no line ends. */
function linesOf(content: Buffer): Buffer[] {
  const lines: Buffer[] = []
  for (let start = 0; start < content.length; ) {
    const end = content.indexOf(LINE_END, start)
    if (end === -1) return []
    lines.push(content.subarray(start, end))
    start = end + 1
  }
  return lines
}
