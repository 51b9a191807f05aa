import { type Broker, handleEvents } from '@slipway/broker'
import { type EventHandlers, eventsOf } from '@slipway/contracts'
import { changeHandlers } from '../changes/change.ts'
import type { ChangeStreams } from '../changes/change-streams.ts'
import type { Hubs } from '../streams/hubs.ts'
import type { StreamGuard } from '../tokens/guard.ts'

/**
 * Handles the event messages of this replica: wakes the hub of a changed deployment, checks the rights of stream clients after
 * a revocation, and sends changes. If events are lost, hubs and rights are checked periodically, and change streams are cut
 * off.
 */
export async function wakeByEvents(
  broker: Broker,
  { hubs, guard, changeStreams }: { hubs: Hubs; guard: StreamGuard; changeStreams: ChangeStreams },
) {
  const changes = changeHandlers((resource, noted) => changeStreams.note(resource, noted))
  const handlers: EventHandlers<'log-stream'> = {
    ...changes,
    'deployment.updated'(body, received) {
      hubs.look(body.deployment_id)
      return changes['deployment.updated'](body, received)
    },
    'user.revoked': () => guard.look(),
  }
  await broker.consumeEventsExclusively(eventsOf('log-stream'), handleEvents<'log-stream'>(handlers), {
    onLost: () => changeStreams.suspend(),
    onResumed() {
      changeStreams.resume()
      hubs.lookAtAll()
      guard.look()
    },
  })
  changeStreams.resume()
}
