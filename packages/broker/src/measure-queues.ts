import { measure } from '@slipway/runtime'
import type { Broker } from './broker.ts'
import { DURABLE_QUEUES } from './topology.ts'

/** Measures all queues in RabbitMQ, so that other services report the queues of a service that is away. */
export function measureQueues(broker: Broker): void {
  measure(
    'rabbitmq_queues',
    {
      slipway_queue_messages: {
        help: 'Messages that wait in RabbitMQ, those in hand left out; what goes together counts as one',
        label: 'queue',
      },
      slipway_queue_consumers: { help: 'Consumers of a queue in RabbitMQ', label: 'queue' },
    },
    async () => {
      const found = await broker.inspect(DURABLE_QUEUES)
      const valuesOf = (number: 'messages' | 'consumers') =>
        Object.fromEntries(found.map((queue) => [queue.name, queue[number]]))
      return { slipway_queue_messages: valuesOf('messages'), slipway_queue_consumers: valuesOf('consumers') }
    },
  )
}
