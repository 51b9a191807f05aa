import { loseMessages, wipeBroker } from '@slipway/testing'
import { type FaultFactory, moment } from './fault.ts'

/** The share of connections that the weaker fault kills. */
const SOME = 0.3

export const serverFault: FaultFactory = ({ campaign }, { kind, target, durationMs }) => {
  const { postgres, rabbitmq, redis } = campaign.servers
  const { namespace } = campaign.suite
  switch (`${target}: ${kind}`) {
    case 'postgres: restart, fast':
      return moment(() => postgres.restart('fast'))
    case 'postgres: restart, immediate':
      return moment(() => postgres.restart('immediate'))
    case 'postgres: connections killed':
      return moment(() => postgres.killConnections(1))
    case 'postgres: some connections killed':
      return moment(() => postgres.killConnections(SOME))
    case 'rabbitmq: restart':
      return moment(() => rabbitmq.restart({ empty: false }))
    case 'rabbitmq: restart, empty':
      return moment(() => rabbitmq.restart({ empty: true }))
    case 'rabbitmq: queues deleted':
      return moment(() => wipeBroker(namespace))
    case 'rabbitmq: messages lost':
      return moment(async () => void (await loseMessages(namespace, durationMs)))
    case 'redis: restart, empty':
      return { inject: () => redis.kill(), heal: () => redis.start() }
    case 'redis: flushed':
      return moment(() => redis.flush())
    default:
      throw new Error(`no such fault of ${target}: ${kind}`)
  }
}
