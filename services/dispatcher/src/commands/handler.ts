import { type Broker, type Delivery, PoisonMessage } from '@slipway/broker'
import type { CommandBody, CommandReply, Envelope } from '@slipway/contracts'
import type { Database, ReceivedCommand } from '@slipway/database'
import { Problem, toErrorBody } from '@slipway/domain'
import { type Logger, Turnstile } from '@slipway/runtime'
import { cancelDeployment } from '../deployments/cancel.ts'
import { ended, requests } from '../deployments/metrics.ts'
import { createStarter } from '../deployments/starter.ts'
import { cancelPending } from '../pending/cancel.ts'
import { updatePending } from '../pending/update.ts'
import { redeliver } from '../webhooks/redeliver.ts'

/** Commands other than starts at a time: each takes a connection, and the drain, the sweeper and the relay need some too. */
const OTHERS = 4

export interface CommandOptions {
  database: Database
  broker: Pick<Broker, 'reply'>
  logger: Logger
  /** Something was committed: messages wait in the outbox. */
  onCommitted(): void
  /** A request may wait, or a slot be free. */
  wake(): void
}

/** Handles the dispatcher's commands and answers whoever asked, after the commit. */
export function createCommandHandler({ database, broker, logger, onCommitted, wake }: CommandOptions) {
  const start = createStarter(database)
  const others = new Turnstile(OTHERS)
  const execute = ({ type, body, message_id, deadline, request_id }: Envelope): Promise<unknown> => {
    if (type === 'deployment.start') return start(body as CommandBody<'deployment.start'>, { deadline, request_id })
    return others.pass(() => executeOther(database, { type, body }, { command_id: message_id, deadline, request_id }))
  }
  return async (envelope: Envelope, delivery: Delivery): Promise<void> => {
    try {
      const result = await execute(envelope)
      count(envelope.type, result)
      if (result === null) {
        logger.info('the command has no effect: it came past its deadline, or its sender has given it up', {
          type: envelope.type,
        })
        return
      }
      onCommitted()
      if (!isStart(envelope.type, result)) wake()
      broker.reply(delivery.replyTo, delivery.correlationId, { ok: true, result })
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      if (envelope.type === 'deployment.start') requests.inc({ outcome: 'refused' })
      broker.reply(delivery.replyTo, delivery.correlationId, { ok: false, problem: toErrorBody(error).error })
    }
  }
}

/** A start takes a slot and leaves nothing for the queue to do. */
const isStart = (type: string, result: unknown) =>
  type === 'deployment.start' && (result as CommandReply<'deployment.start'>).outcome === 'started'

function count(type: string, result: unknown): void {
  if (type === 'deployment.start') {
    requests.inc({ outcome: (result as CommandReply<'deployment.start'> | null)?.outcome ?? 'late' })
  } else if (type === 'deployment.cancel' && result !== null) ended.inc({ state: 'cancelled' })
}

/** What to answer; null when it is too late for an effect. */
function executeOther(
  database: Database,
  { type, body }: Pick<Envelope, 'type' | 'body'>,
  received: ReceivedCommand,
): Promise<unknown> {
  switch (type) {
    case 'deployment.cancel':
      return cancelDeployment(database, body as CommandBody<'deployment.cancel'>, received)
    case 'pending.cancel':
      return cancelPending(database, body as CommandBody<'pending.cancel'>, received)
    case 'pending.update':
      return updatePending(database, body as CommandBody<'pending.update'>, received)
    case 'webhook.redeliver':
      return redeliver(database, body as CommandBody<'webhook.redeliver'>, received)
    default:
      throw new PoisonMessage(`the dispatcher has no command ${type}`)
  }
}
