import { type Broker, handleEvents } from '@slipway/broker'
import { type EventHandlers, eventsOf } from '@slipway/contracts'
import type { WakeUps } from '../wake-ups.ts'

/** Ends waiting syncs on events about leases and instances. Each bridge has its own queue. */
export async function wakeOnEvents(broker: Pick<Broker, 'consumeEventsExclusively'>, wakeUps: WakeUps): Promise<void> {
  const handlers: EventHandlers<'executor-bridge'> = {
    'lease.changed': ({ instance_id }) => wakeUps.wake(instance_id, 'changed'),
    'instance.deleted': ({ instance_id }) => wakeUps.wake(instance_id, 'removed'),
  }
  await broker.consumeEventsExclusively(eventsOf('executor-bridge'), handleEvents<'executor-bridge'>(handlers), {
    onResumed: () => wakeUps.wakeAll(),
  })
  // Events from before the queue existed are missing.
  wakeUps.wakeAll()
}
