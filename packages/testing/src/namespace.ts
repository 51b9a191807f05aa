import { randomBytes } from 'node:crypto'
import { deleteTopology, queueName, WORK_QUEUES } from '@slipway/broker'
import { connect } from 'amqplib'
import { Redis } from 'ioredis'
import { serverUrl } from './servers.ts'

/** Names at the broker and in Redis of one test's own. */
export const testNamespace = () => `test-${randomBytes(5).toString('hex')}`

/** Takes away for some seconds whatever waits in the queues, as a broker would that lost its disk. How many messages. */
export async function loseMessages(namespace: string, milliseconds: number): Promise<number> {
  const model = await connect(serverUrl('RABBITMQ_URL'))
  let lost = 0
  try {
    const channel = await model.createChannel()
    for (const end = Date.now() + milliseconds; Date.now() < end; ) {
      for (const name of WORK_QUEUES) lost += (await channel.purgeQueue(queueName(namespace, name))).messageCount
    }
  } finally {
    await model.close()
  }
  return lost
}

/** Removes a namespace's queues and exchanges with all that is in them. */
export async function wipeBroker(namespace: string): Promise<void> {
  const model = await connect(serverUrl('RABBITMQ_URL'))
  try {
    await deleteTopology(await model.createChannel(), namespace)
  } finally {
    await model.close()
  }
}

/** Removes what a test's namespace left at the broker and in Redis. */
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
