import { answerCommands, type Broker, type Handler } from '@slipway/broker'
import type { CommandHandlers } from '@slipway/contracts'
import { receivedCommand } from '@slipway/database'
import type { Bridge } from '../bridge.ts'
import { changeInstance, removeInstance } from './administer.ts'

/** Handles command messages about instances, and answers after the commit. */
export function createInstanceHandler({ database, logger, wakeRelay }: Bridge, broker: Pick<Broker, 'reply'>): Handler {
  const handlers: CommandHandlers<'executor.commands'> = {
    'instance.update': (body, received) => changeInstance(database, body, receivedCommand(received)),
    'instance.delete': (body, received) => removeInstance(database, body, receivedCommand(received)),
  }
  return answerCommands<'executor.commands'>(handlers, { reply: broker.reply, logger, onCommitted: wakeRelay })
}
