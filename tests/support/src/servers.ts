import type { BrokerUser } from '@slipway/broker'
import { serviceUrlVariable } from '@slipway/runtime'
import type { RedisUser } from '@slipway/runtime/redis'

/** The URL of a real server for tests. `jest.config.mjs` sets the variables from scripts/infra.sh. */
export function serverUrl(name: 'DATABASE_URL' | 'RABBITMQ_URL' | 'REDIS_URL'): string {
  const url = process.env[name]
  if (!url)
    throw new Error(`${name} is not set: start the servers with "scripts/infra.sh up" and run the tests with jest`)
  return url
}

/** The URL of RabbitMQ with the user of the service, if the server has that user. */
export const brokerUrlOf = (service: BrokerUser): string =>
  process.env[serviceUrlVariable('RABBITMQ_URL', service)] ?? serverUrl('RABBITMQ_URL')

/** The URL of Redis with the user of the service, if the server has that user. */
export const redisUrlOf = (service: RedisUser): string =>
  process.env[serviceUrlVariable('REDIS_URL', service)] ?? serverUrl('REDIS_URL')
