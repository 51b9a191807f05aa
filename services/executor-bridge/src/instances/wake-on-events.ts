import { type Broker, handleEvents } from '@slipway/broker'
import { type EventHandlers, eventsOf } from '@slipway/contracts'
import type { WakeUps } from '../wake-ups.ts'

/** Passes on to waiting syncs what RabbitMQ tells of leases and instances. Each bridge has a queue of its own. */
export async function wakeOnEvents(broker: Pick<Broker, 'consumeEventsExclusively'>, wakeUps: WakeUps): Promise<void> {
  const handlers: EventHandlers<'executor-bridge'> = {
    'lease.changed': ({ instance_id }) => wakeUps.wake(instance_id, 'changed'),
    'instance.deleted': ({ instance_id }) => wakeUps.wake(instance_id, 'removed'),
  }
  await broker.consumeEventsExclusively(eventsOf('executor-bridge'), handleEvents<'executor-bridge'>(handlers), {
    onResumed: () => wakeUps.wakeAll(),
  })
  // Events from before this queue existed reached no bridge.
  wakeUps.wakeAll()
}
