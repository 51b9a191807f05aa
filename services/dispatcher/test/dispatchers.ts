import type { Broker } from '@slipway/broker'
import type { Database } from '@slipway/database'
import { databaseAs, testLogger as logger, openTestBroker, removeNamespace, testNamespace } from '@slipway/testing'
import { type DispatcherOptions, startDispatcher } from '../src/dispatcher.ts'
import { keys, queue } from './fixtures.ts'

/** Dispatchers and the services that the test plays, on the real broker in a namespace of one test. */
export function testDispatchers() {
  const namespace = testNamespace()
  const opened: Broker[] = []
  let stops: (() => Promise<void>)[] = []
  async function connect(name: string): Promise<Broker> {
    const broker = await openTestBroker(namespace, name)
    opened.push(broker)
    return broker
  }
  return {
    connect,
    async start(database: Database, name: string, more: Partial<DispatcherOptions> = {}): Promise<void> {
      const broker = await connect(name)
      const destinations = { allowPrivate: false }
      const own = databaseAs(database, 'dispatcher')
      const onStop = (_part: string, stop: () => Promise<void>) => void stops.unshift(stop)
      await startDispatcher({ database: own, broker, keys, destinations, queue, logger, onStop, ...more })
    },
    /** Stops the dispatchers; their connections stay open. */
    async stop(): Promise<void> {
      for (const stop of stops) await stop()
      stops = []
    },
    /** Closes all connections, and deletes the queues and exchanges of the namespace. */
    async close(): Promise<void> {
      await Promise.all(opened.map((broker) => broker.close()))
      await removeNamespace(namespace)
    },
  }
}
