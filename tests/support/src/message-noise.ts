import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { exchangeName, queueName, WORK_QUEUES } from '@slipway/broker'
import { type ConsumeMessage, connect } from 'amqplib'
import { serverUrl } from './servers.ts'

const COPY = 'x-copy'
const COPIES = 2
const LATEST_MS = 3_000

/**
 * Repeats every message for some time: copies come later, in another order, and more than once, as RabbitMQ may redeliver them.
 * Returns the number of copies.
 */
export async function repeatMessages(namespace: string, milliseconds: number): Promise<number> {
  const model = await connect(serverUrl('RABBITMQ_URL'))
  model.on('error', () => {})
  let copies = 0
  try {
    const channel = await model.createChannel()
    channel.on('error', () => {})
    const { queue } = await channel.assertQueue('', { exclusive: true, autoDelete: true })
    await channel.bindQueue(queue, exchangeName(namespace, 'events'), '#')
    for (const name of WORK_QUEUES) await channel.bindQueue(queue, exchangeName(namespace, 'commands'), name)
    const pending: Promise<void>[] = []
    const repeat = async ({ content, fields, properties }: ConsumeMessage) => {
      const headers = { ...properties.headers, [COPY]: true }
      for (let n = 0; n < COPIES; n += 1) {
        await sleep(Math.random() * LATEST_MS)
        try {
          channel.publish(fields.exchange, fields.routingKey, content, { ...properties, headers })
          copies += 1
        } catch {
          // RabbitMQ has gone away, or the time is over.
          return
        }
      }
    }
    await channel.consume(
      queue,
      (message) => {
        if (message !== null && message.properties.headers?.[COPY] !== true) pending.push(repeat(message))
      },
      { noAck: true },
    )
    await sleep(milliseconds)
    await Promise.allSettled(pending)
  } finally {
    await model.close()
  }
  return copies
}

/**
 * Sends messages that no consumer can handle to each work queue: no JSON, an unknown type, no type.
 * @param onSend is told the content of each message, which no other one has, before it is sent
 */
export async function sendGarbage(namespace: string, onSend: (content: Buffer) => void): Promise<void> {
  const model = await connect(serverUrl('RABBITMQ_URL'))
  model.on('error', () => {})
  try {
    const channel = await model.createConfirmChannel()
    channel.on('error', () => {})
    for (const name of WORK_QUEUES) {
      const queue = queueName(namespace, name)
      const unique = randomBytes(8).toString('hex')
      for (const [content, options] of [
        [randomBytes(200), { type: 'plan.create' }],
        [Buffer.from(`{"a":"${unique}"}`), { type: 'no.such.type', contentType: 'application/json' }],
        [Buffer.from(`["${unique}"]`), { contentType: 'application/json' }],
      ] as const) {
        onSend(content)
        channel.sendToQueue(queue, content, { persistent: true, ...options })
      }
    }
    await channel.waitForConfirms()
  } finally {
    await model.close()
  }
}
