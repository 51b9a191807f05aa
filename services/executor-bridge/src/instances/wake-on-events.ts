import type { Broker } from '@slipway/broker'
import type { EventBody } from '@slipway/contracts'
import type { WakeUps } from './wake-ups.ts'

/** Passes on to waiting syncs what RabbitMQ tells of leases and instances. Each bridge has a queue of its own. */
export async function wakeOnEvents(broker: Pick<Broker, 'consumeEventsExclusively'>, wakeUps: WakeUps): Promise<void> {
  await broker.consumeEventsExclusively(
    ['lease.changed', 'instance.deleted'],
    async ({ type, body }) => {
      const { instance_id } = body as EventBody<'lease.changed' | 'instance.deleted'>
      wakeUps.wake(instance_id, type === 'instance.deleted' ? 'removed' : 'changed')
    },
    { onResumed: () => wakeUps.wakeAll() },
  )
  // What came before the queue was there has reached nobody.
  wakeUps.wakeAll()
}
