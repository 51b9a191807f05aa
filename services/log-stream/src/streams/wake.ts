import type { Broker } from '@slipway/broker'
import type { EventBody } from '@slipway/contracts'
import { ROUTING_KEYS } from '../changes/change.ts'
import type { Feeds } from '../changes/feeds.ts'
import type { Guard } from '../tokens/guard.ts'
import type { Hubs } from './hubs.ts'

/**
 * Has a deployment looked at when its state changed, who is watching when somebody may not any more, and changes told to
 * those who listen. What is missed while RabbitMQ is away is found by looking; where it is not, in changes, streams are cut.
 */
export async function wakeByEvents(broker: Broker, { hubs, guard, feeds }: { hubs: Hubs; guard: Guard; feeds: Feeds }) {
  await broker.consumeEventsExclusively(
    [...ROUTING_KEYS, 'user.revoked'],
    async (envelope) => {
      const { type, body } = envelope
      if (type === 'user.revoked') return guard.look()
      if (type === 'deployment.updated') hubs.look((body as EventBody<'deployment.updated'>).deployment_id)
      feeds.take(envelope)
    },
    {
      onLost: () => feeds.suspend(),
      onResumed() {
        feeds.resume()
        hubs.lookAtAll()
        guard.look()
      },
    },
  )
  feeds.resume()
}
