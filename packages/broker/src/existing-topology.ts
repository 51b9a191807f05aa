import type { Logger } from '@slipway/runtime'
import type { Channel, ChannelModel } from 'amqplib'
import { checkTopology, declareTopology } from './topology.ts'
import { BROKER_USERS, TOPOLOGY_OWNER } from './users/rights.ts'

const ACCESS_REFUSED = 403
const NOT_FOUND = 404

interface Options {
  namespace: string
  /** The service's name. */
  name: string
  logger: Logger
}

/**
 * Makes sure that exchanges and queues exist before a connection uses them. A user that may declare them does so. Any other
 * waits until the dispatcher has declared them.
 */
export class ExistingTopology {
  readonly #options: Options
  /** Tried once in each process, because RabbitMQ logs each refusal as an error. */
  #mayDeclare: boolean | undefined

  constructor(options: Options) {
    this.#options = options
  }

  /** @throws Error when something is missing, or exists with other properties (code 406) */
  async ensure(model: ChannelModel): Promise<void> {
    const { namespace, name } = this.#options
    if (this.#mayDeclare !== false && (await this.#declare(model))) return
    try {
      await onOwnChannel(model, (channel) => checkTopology(channel, namespace))
    } catch (error) {
      if (codeOf(error) !== NOT_FOUND) throw error
      const advice =
        name === TOPOLOGY_OWNER
          ? 'give the user of RABBITMQ_URL the rights of the dispatcher, see "Users of RabbitMQ" in docs/operations.md'
          : `the ${TOPOLOGY_OWNER} declares it when it starts`
      throw new Error(`${(error as Error).message}; ${advice}`, { cause: error })
    }
  }

  /** False when the user may not declare. */
  async #declare(model: ChannelModel): Promise<boolean> {
    const { namespace, name, logger } = this.#options
    try {
      await onOwnChannel(model, (channel) => declareTopology(channel, namespace))
    } catch (error) {
      if (codeOf(error) !== ACCESS_REFUSED) throw error
      this.#mayDeclare = false
      return false
    }
    const isService = BROKER_USERS.some((service) => service === name)
    if (this.#mayDeclare === undefined && isService && name !== TOPOLOGY_OWNER) {
      logger.warn(
        'the user of RABBITMQ_URL may declare and delete all queues of Slipway: give this process the user of its service, ' +
          'see "Users of RabbitMQ" in docs/operations.md',
      )
    }
    this.#mayDeclare = true
    return true
  }
}

/** RabbitMQ closes a channel on which it refuses something. */
async function onOwnChannel(model: ChannelModel, work: (channel: Channel) => Promise<void>): Promise<void> {
  const channel = await model.createChannel()
  channel.on('error', () => {})
  try {
    await work(channel)
  } finally {
    await channel.close().catch(() => {})
  }
}

const codeOf = (error: unknown) => (error as { code?: unknown }).code
