import { randomBytes } from 'node:crypto'
import { deleteTopology } from '@slipway/broker'
import { connect } from 'amqplib'
import { Redis } from 'ioredis'
import { serverUrl } from './servers.ts'

/** Names at the broker and in Redis of one test's own. */
export const testNamespace = () => `test-${randomBytes(5).toString('hex')}`

/** Removes what a test's namespace left at the broker and in Redis. */
export async function removeNamespace(namespace: string): Promise<void> {
  const model = await connect(serverUrl('RABBITMQ_URL'))
  try {
    await deleteTopology(await model.createChannel(), namespace)
  } finally {
    await model.close()
  }
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
