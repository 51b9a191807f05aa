import type { ChannelModel } from 'amqplib'
import { type DurableQueue, queueName } from './topology.ts'

export interface QueueState {
  name: DurableQueue
  /** Messages that no consumer has received yet. */
  messages: number
  consumers: number
}

/** Asks RabbitMQ for the lengths of queues, on a separate channel, because a failed question closes its channel. */
export async function inspectQueues(
  model: ChannelModel,
  namespace: string,
  queues: readonly DurableQueue[],
): Promise<QueueState[]> {
  const channel = await model.createChannel()
  channel.on('error', () => {})
  try {
    const states: QueueState[] = []
    for (const name of queues) {
      const { messageCount, consumerCount } = await channel.checkQueue(queueName(namespace, name))
      states.push({ name, messages: messageCount, consumers: consumerCount })
    }
    return states
  } finally {
    await channel.close().catch(() => {})
  }
}
