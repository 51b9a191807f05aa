import { type Broker, connectBroker } from '@slipway/broker'
import { testLogger } from './logger.ts'
import { serverUrl } from './servers.ts'

/** Connects to RabbitMQ like the service of this name. A fatal error fails the test. */
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
