import type { Broker } from '@slipway/broker'
import type { EventBody } from '@slipway/contracts'
import type { Hubs } from './hubs.ts'

/** Has a deployment looked at when its state changed. A hint: what is missed while RabbitMQ is away is found by looking. */
export async function wakeByEvents(broker: Broker, hubs: Hubs): Promise<void> {
  await broker.consumeEventsExclusively(
    ['deployment.updated'],
    async ({ body }) => hubs.look((body as EventBody<'deployment.updated'>).deployment_id),
    { onResumed: () => hubs.lookAtAll() },
  )
}
