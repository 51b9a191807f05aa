import { answerCommands, type Broker, type Handler } from '@slipway/broker'
import type { CommandHandlers, Received } from '@slipway/contracts'
import type { ReceivedCommand } from '@slipway/database'
import type { Bridge } from '../bridge.ts'
import { changeInstance, removeInstance } from './administer.ts'

/** Handles what administrators do with instances, and answers after the commit. */
export function createInstanceHandler({ database, logger, wakeRelay }: Bridge, broker: Pick<Broker, 'reply'>): Handler {
  const handlers: CommandHandlers<'executor.commands'> = {
    'instance.update': (body, received) => changeInstance(database, body, commandOf(received)),
    'instance.delete': (body, received) => removeInstance(database, body, commandOf(received)),
  }
  return answerCommands<'executor.commands'>(handlers, { reply: broker.reply, logger, onCommitted: wakeRelay })
}

const commandOf = ({ message_id, deadline, request_id }: Received): ReceivedCommand => ({
  command_id: message_id,
  deadline,
  request_id,
})
