import { type Broker, type Handler, PoisonMessage } from '@slipway/broker'
import type { CommandBody, Envelope } from '@slipway/contracts'
import { Problem, toErrorBody } from '@slipway/domain'
import type { Bridge } from '../bridge.ts'
import { changeInstance, removeInstance } from './administer.ts'

/** Handles what administrators do with instances, and answers after the commit. */
export function createInstanceHandler(bridge: Bridge, broker: Pick<Broker, 'reply'>): Handler {
  return async (envelope, delivery) => {
    const work = execute(bridge, envelope)
    try {
      const result = await work
      if (result === null) {
        bridge.logger.info('the command has no effect: it came past its deadline, or its sender has given it up', {
          type: envelope.type,
        })
        return
      }
      bridge.wakeRelay()
      broker.reply(delivery.replyTo, delivery.correlationId, { ok: true, result })
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      broker.reply(delivery.replyTo, delivery.correlationId, { ok: false, problem: toErrorBody(error).error })
    }
  }
}

function execute({ database }: Bridge, { type, body, message_id, deadline, request_id }: Envelope) {
  const received = { command_id: message_id, deadline, request_id }
  if (type === 'instance.update') return changeInstance(database, body as CommandBody<'instance.update'>, received)
  if (type === 'instance.delete') return removeInstance(database, body as CommandBody<'instance.delete'>, received)
  throw new PoisonMessage(`${type} is no command of the executor-bridge`)
}
