import type { BrokerUser } from '@slipway/broker'
import { serviceUrlVariable } from '@slipway/runtime'

/** The real servers that tests use; `jest.config.mjs` fills these in from scripts/infra.sh. */
export function serverUrl(name: 'DATABASE_URL' | 'RABBITMQ_URL' | 'REDIS_URL'): string {
  const url = process.env[name]
  if (!url)
    throw new Error(`${name} is not set: start the servers with "scripts/infra.sh up" and run the tests by jest`)
  return url
}

/** RabbitMQ as a service gets it: with the user of that service, where the server has one. */
export const brokerUrlOf = (service: BrokerUser): string =>
  process.env[serviceUrlVariable('RABBITMQ_URL', service)] ?? serverUrl('RABBITMQ_URL')
