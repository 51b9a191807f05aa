import { type Broker, connectBroker } from '@slipway/broker'
import type { Envelope, ReplyEnvelope } from '@slipway/contracts'
import { serverUrl } from '@slipway/testing'
import { logger, type TestGateway } from './setup.ts'

export type CommandAnswer = ReplyEnvelope | 'silence'

/** Replaces planner, dispatcher and executor-bridge on RabbitMQ. The test answers each command. */
export async function startOtherServices(
  { namespace }: TestGateway,
  answer: (message: Envelope) => Promise<CommandAnswer> | CommandAnswer,
): Promise<Broker> {
  const url = serverUrl('RABBITMQ_URL')
  const broker = connectBroker({ url, namespace, name: 'other services', logger, onFatal: () => {} })
  for (const queue of ['planner.commands', 'dispatcher.commands', 'executor.commands'] as const) {
    await broker.consume(queue, {
      prefetch: 50,
      async handle(message, { replyTo, correlationId }) {
        const reply = await answer(message)
        if (reply !== 'silence') broker.reply(replyTo, correlationId, reply)
      },
    })
  }
  return broker
}
