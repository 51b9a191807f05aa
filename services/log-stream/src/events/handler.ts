import { type Broker, handleEvents } from '@slipway/broker'
import { type EventHandlers, eventsOf } from '@slipway/contracts'
import { changeHandlers } from '../changes/change.ts'
import type { Feeds } from '../changes/feeds.ts'
import type { Hubs } from '../streams/hubs.ts'
import type { Guard } from '../tokens/guard.ts'

/**
 * Has a deployment looked at when its state changed, who is watching when somebody may not any more, and changes told to
 * those who listen. What is missed while RabbitMQ is away is found by looking; where it is not, in changes, streams are cut.
 */
export async function wakeByEvents(broker: Broker, { hubs, guard, feeds }: { hubs: Hubs; guard: Guard; feeds: Feeds }) {
  const changes = changeHandlers((resource, noted) => feeds.note(resource, noted))
  const handlers: EventHandlers<'log-stream'> = {
    ...changes,
    'deployment.updated'(body, received) {
      hubs.look(body.deployment_id)
      return changes['deployment.updated'](body, received)
    },
    'user.revoked': () => guard.look(),
  }
  await broker.consumeEventsExclusively(eventsOf('log-stream'), handleEvents<'log-stream'>(handlers), {
    onLost: () => feeds.suspend(),
    onResumed() {
      feeds.resume()
      hubs.lookAtAll()
      guard.look()
    },
  })
  feeds.resume()
}
