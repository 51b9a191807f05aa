import { type Broker, connectBroker } from '@slipway/broker'
import { testLogger } from './logger.ts'
import { serverUrl } from './servers.ts'

/** A connection as a service of this name has it. What only a new process could mend fails the test. */
export async function openTestBroker(namespace: string, name: string): Promise<Broker> {
  const broker = connectBroker({
    url: serverUrl('RABBITMQ_URL'),
    namespace,
    name,
    logger: testLogger,
    onFatal(error) {
      throw error
    },
  })
  await broker.connected()
  return broker
}
