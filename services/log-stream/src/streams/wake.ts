import type { Broker } from '@slipway/broker'
import type { EventBody } from '@slipway/contracts'
import type { Guard } from '../tokens/guard.ts'
import type { Hubs } from './hubs.ts'

/**
 * Has a deployment looked at when its state changed, and who is watching when somebody may not any more. A hint: what is
 * missed while RabbitMQ is away is found by looking.
 */
export async function wakeByEvents(broker: Broker, hubs: Hubs, guard: Guard): Promise<void> {
  await broker.consumeEventsExclusively(
    ['deployment.updated', 'user.revoked'],
    async ({ type, body }) => {
      if (type === 'user.revoked') guard.look()
      else hubs.look((body as EventBody<'deployment.updated'>).deployment_id)
    },
    {
      onResumed() {
        hubs.lookAtAll()
        guard.look()
      },
    },
  )
}
