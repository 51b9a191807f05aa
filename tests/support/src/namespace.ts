import { randomBytes } from 'node:crypto'
import { deleteTopology, queueName, WORK_QUEUES } from '@slipway/broker'
import { connect } from 'amqplib'
import { Redis } from 'ioredis'
import { serverUrl } from './servers.ts'

/** A prefix for the names of one test in RabbitMQ and Redis. */
export const testNamespace = () => `test-${randomBytes(5).toString('hex')}`

/** Purges all queues for some time, like a broker that loses its disk. Returns the number of lost messages. */
export async function loseMessages(namespace: string, milliseconds: number): Promise<number> {
  const model = await connect(serverUrl('RABBITMQ_URL'))
  // The calls below fail as well.
  model.on('error', () => {})
  let lost = 0
  try {
    const channel = await model.createChannel()
    channel.on('error', () => {})
    for (const end = Date.now() + milliseconds; Date.now() < end; ) {
      for (const name of WORK_QUEUES) lost += (await channel.purgeQueue(queueName(namespace, name))).messageCount
    }
  } finally {
    await model.close()
  }
  return lost
}

/** The number of messages in each durable queue; null for a queue that does not exist. */
export async function queueLengths(namespace: string): Promise<Record<string, number | null>> {
  const model = await connect(serverUrl('RABBITMQ_URL'))
  model.on('error', () => {})
  try {
    const lengths: Record<string, number | null> = {}
    for (const name of [...WORK_QUEUES, 'dead-letters', 'retry.1s', 'retry.5s', 'retry.15s'] as const) {
      const channel = await model.createChannel()
      channel.on('error', () => {})
      // A question about an unknown queue closes the channel.
      const count = await channel.checkQueue(queueName(namespace, name)).catch(() => null)
      lengths[name] = count?.messageCount ?? null
      if (count !== null) await channel.close()
    }
    return lengths
  } finally {
    await model.close()
  }
}

/** The contents of the dead letters, which stay where they are. */
export async function deadLetterContents(namespace: string): Promise<Buffer[]> {
  const model = await connect(serverUrl('RABBITMQ_URL'))
  try {
    const channel = await model.createChannel()
    const contents: Buffer[] = []
    // What is not acknowledged returns to the queue when the connection closes.
    for (;;) {
      const message = await channel.get(queueName(namespace, 'dead-letters'))
      if (message === false) return contents
      contents.push(message.content)
    }
  } finally {
    await model.close()
  }
}

/** Deletes the queues and exchanges of a namespace with their messages. */
export async function wipeBroker(namespace: string): Promise<void> {
  const model = await connect(serverUrl('RABBITMQ_URL'))
  model.on('error', () => {})
  try {
    const channel = await model.createChannel()
    channel.on('error', () => {})
    await deleteTopology(channel, namespace)
  } finally {
    await model.close()
  }
}

/** Deletes everything of a namespace from RabbitMQ and Redis. */
export async function removeNamespace(namespace: string): Promise<void> {
  await wipeBroker(namespace)
  const redis = new Redis(serverUrl('REDIS_URL'))
  try {
    let cursor = '0'
    do {
      const [next, keys] = await redis.scan(cursor, 'MATCH', `${namespace}:*`, 'COUNT', 1_000)
      if (keys.length > 0) await redis.unlink(...keys)
      cursor = next
    } while (cursor !== '0')
  } finally {
    redis.disconnect()
  }
}
