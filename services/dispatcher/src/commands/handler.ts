import { type Broker, type Delivery, PoisonMessage } from '@slipway/broker'
import type { CommandBody, Envelope } from '@slipway/contracts'
import type { Database } from '@slipway/database'
import { Problem, toErrorBody } from '@slipway/domain'
import type { Logger } from '@slipway/runtime'
import { cancelDeployment } from '../deployments/cancel.ts'
import { startDeployment } from '../deployments/start.ts'
import { cancelPending } from '../pending/cancel.ts'

export interface CommandOptions {
  database: Database
  broker: Pick<Broker, 'reply'>
  logger: Logger
  /** Something was committed: messages wait in the outbox, and perhaps a request in the queue or a slot is free. */
  onCommitted(): void
}

/** Handles the dispatcher's commands and answers whoever asked, after the commit. */
export function createCommandHandler({ database, broker, logger, onCommitted }: CommandOptions) {
  return async (envelope: Envelope, delivery: Delivery): Promise<void> => {
    try {
      const result = await execute(database, envelope, delivery)
      if (result === null)
        return logger.info('the command came past its deadline and has no effect', { type: envelope.type })
      onCommitted()
      broker.reply(delivery.replyTo, delivery.correlationId, { ok: true, result })
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      broker.reply(delivery.replyTo, delivery.correlationId, { ok: false, problem: toErrorBody(error).error })
    }
  }
}

/** What to answer; null when the deadline was over. */
function execute(
  database: Database,
  { type, body, deadline, request_id }: Envelope,
  delivery: Delivery,
): Promise<unknown> {
  const repeated = delivery.redelivered || delivery.attempt > 1
  switch (type) {
    case 'deployment.start':
      return startDeployment(database, body as CommandBody<'deployment.start'>, { deadline, request_id })
    case 'deployment.cancel':
      return cancelDeployment(database, body as CommandBody<'deployment.cancel'>, { deadline, repeated })
    case 'pending.cancel':
      return cancelPending(database, body as CommandBody<'pending.cancel'>, { deadline, repeated })
    default:
      throw new PoisonMessage(`the dispatcher has no command ${type}`)
  }
}
