import { randomUUID } from 'node:crypto'
import { type ConfirmChannel, connect, type GetMessage } from 'amqplib'
import { forward, HEADER, type WireMessage } from '../message.ts'
import { exchangeName, queueName, type WorkQueue } from '../topology.ts'
import { type DeadLetter, letterOf } from './letter.ts'
import { outline } from './outline.ts'

export interface DeadLetterFilter {
  /** The letters with these ids; without ids, all letters. */
  ids?: readonly string[]
  queue?: string
  type?: string
}

export interface TreatedLetters {
  /** Sent again, or dropped. */
  done: DeadLetter[]
  /** Letters that were left, each with the reason. */
  left: { letter: DeadLetter; why: string }[]
}

export interface DeadLetters {
  /** The first `limit` of the chosen letters, and the number of all chosen letters. */
  list(choice: DeadLetterFilter, limit: number): Promise<{ letters: DeadLetter[]; total: number }>
  show(id: string): Promise<{ letter: DeadLetter; body: unknown } | null>
  /** Sends them to the queue where they failed, as if for the first time. */
  replay(choice: DeadLetterFilter): Promise<TreatedLetters>
  drop(choice: DeadLetterFilter): Promise<TreatedLetters>
  close(): Promise<void>
}

/** RabbitMQ 4 drops a message after 20 redeliveries. Before that, the letter is published anew. */
const MANY_LOOKS = 10
const CONNECT_MS = 5_000

type Verdict = 'keep' | 'remove' | 'end'

/** Reads and empties the queue of dead letters. While one process reads it, others see no letters. */
export async function openDeadLetters(options: { url: string; namespace: string }): Promise<DeadLetters> {
  const { url, namespace } = options
  const model = await connect(url, { noDelay: true, timeout: CONNECT_MS })
  // The awaited calls report each failure. Without a listener, an error event ends the process.
  model.on('error', () => {})
  const queue = queueName(namespace, 'dead-letters')

  /** Calls `visit` once for each letter that is there now, in order. */
  async function read(visit: (letter: DeadLetter, message: GetMessage, out: ConfirmChannel) => Promise<Verdict>) {
    const channel = await model.createChannel()
    channel.on('error', () => {})
    const out = await model.createConfirmChannel()
    out.on('error', () => {})
    try {
      const { messageCount } = await channel.checkQueue(queue).catch((cause: Error) => {
        throw new Error(`there is no queue ${queue}: set SLIPWAY_NAMESPACE to the value of the services`, { cause })
      })
      let seen = 0
      // Not by the count: a message that was returned a moment ago may not be counted yet.
      for (;;) {
        const message = await channel.get(queue)
        if (message === false) break
        seen += 1
        const letter = letterOf(message, namespace)
        const verdict = await visit(letter, message, out)
        if (verdict === 'remove') channel.ack(message)
        else if (Number(message.properties.headers?.['x-delivery-count'] ?? 0) >= MANY_LOOKS) {
          await send(out, buriedAnew(message, letter, exchangeName(namespace, 'dead')))
          channel.ack(message)
        }
        if (verdict === 'end') break
      }
      channel.nackAll(true)
      return Math.max(seen, messageCount)
    } finally {
      // This also waits until RabbitMQ has processed the acknowledgements.
      await channel.close().catch(() => {})
      await out.close().catch(() => {})
    }
  }

  const chosen = (letter: DeadLetter, { ids, queue: name, type }: DeadLetterFilter) =>
    (ids === undefined || ids.includes(letter.id)) &&
    (name === undefined || letter.queue === name) &&
    (type === undefined || letter.type === type)

  return {
    async list(choice, limit) {
      const letters: DeadLetter[] = []
      const total = await read(async (letter) => {
        if (chosen(letter, choice)) letters.push(letter)
        return letters.length < limit ? 'keep' : 'end'
      })
      return { letters, total }
    },
    async show(id) {
      let found: { letter: DeadLetter; body: unknown } | null = null
      await read(async (letter, message) => {
        if (letter.id !== id) return 'keep'
        found = { letter, body: outline(letter.type, message.content) }
        return 'end'
      })
      return found
    },
    async replay(choice) {
      const treated: TreatedLetters = { done: [], left: [] }
      const sent = new Set<string>()
      const replay = randomUUID()
      await read(async (letter, message, out) => {
        // This letter has failed again, so the following letters came after this replay began.
        if (message.properties.headers?.[HEADER.replay] === replay) return 'end'
        if (!chosen(letter, choice)) return 'keep'
        const why = reasonNotToReplay(letter)
        if (why !== null) {
          treated.left.push({ letter, why })
          return 'keep'
        }
        // One copy is enough.
        if (!sent.has(letter.id)) {
          await send(out, asNew(message, queueName(namespace, letter.queue as WorkQueue), replay))
          treated.done.push(letter)
        }
        sent.add(letter.id)
        return 'remove'
      })
      return treated
    },
    async drop(choice) {
      const treated: TreatedLetters = { done: [], left: [] }
      await read(async (letter) => {
        if (!chosen(letter, choice)) return 'keep'
        treated.done.push(letter)
        return 'remove'
      })
      return treated
    },
    close: () => model.close().catch(() => {}),
  }
}

function reasonNotToReplay({ queue, deadline }: DeadLetter): string | null {
  if (queue === null) return 'where it failed is not known'
  // Its sender got a refusal.
  if (deadline !== null && Date.parse(deadline) <= Date.now()) return `its deadline passed at ${deadline}`
  return null
}

/** Copies what RabbitMQ's headers say into ours, because a message that is sent again loses them. */
function buriedAnew(message: GetMessage, { queue, reason }: DeadLetter, exchange: string): WireMessage {
  const headers = { [HEADER.reason]: reason, ...(queue === null ? {} : { [HEADER.queue]: queue }) }
  return forward(message, { exchange, routingKey: '', headers })
}

/** The message as it was first sent, to this queue only: other queues have handled it. */
function asNew(message: GetMessage, routingKey: string, replay: string): WireMessage {
  const again = forward(message, { exchange: '', routingKey, headers: {} })
  const {
    [HEADER.reason]: _reason,
    [HEADER.queue]: _queue,
    [HEADER.attempt]: _attempt,
    ...headers
  } = again.options.headers ?? {}
  // Its sender no longer waits for an answer.
  const { replyTo: _replyTo, ...options } = again.options
  return { ...again, options: { ...options, headers: { ...headers, [HEADER.replay]: replay } } }
}

/** Resolves when RabbitMQ has the message on disk and in a queue. */
function send(out: ConfirmChannel, { exchange, routingKey, content, options }: WireMessage): Promise<void> {
  return new Promise((resolve, reject) => {
    let returned = false
    const markReturned = () => {
      returned = true
    }
    out.once('return', markReturned)
    out.publish(exchange, routingKey, content, options, (error) => {
      out.off('return', markReturned)
      if (error) reject(new Error(`RabbitMQ refused the message: ${error.message ?? error}`))
      else if (returned) reject(new Error(`there is no queue ${routingKey}`))
      else resolve()
    })
  })
}
