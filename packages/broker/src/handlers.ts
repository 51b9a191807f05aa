import type {
  CommandHandlers,
  CommandQueue,
  Envelope,
  EventHandlers,
  MessageHeaders,
  ReplyEnvelope,
  Subscriber,
} from '@slipway/contracts'
import { Problem, toErrorBody } from '@slipway/domain'
import type { Logger } from '@slipway/runtime'
import { PoisonMessage } from './errors.ts'
import type { Handler } from './handling.ts'

/** Handlers by the type of their message. */
type Handlers<Outcome> = Record<string, (body: never, received: MessageHeaders) => Outcome>

/**
 * Calls the handler of a message. Its body has been validated by the schema of its type, so the handler of that type can take it.
 * @throws PoisonMessage where no handler is for this type
 */
export function callHandler<Outcome>(handlers: Handlers<Outcome>, { type, body, ...received }: Envelope): Outcome {
  const handler = Object.hasOwn(handlers, type) ? handlers[type] : undefined
  if (handler === undefined) throw new PoisonMessage(`there is no handler for ${type} here`)
  return handler(body as never, received)
}

interface AnsweringOptions {
  reply(replyTo: string | undefined, correlationId: string | undefined, body: ReplyEnvelope): void
  logger: Logger
  /** Runs when a command has taken effect, before its answer. */
  onCommitted(): void
}

/** Handles the commands of a queue, and answers after the handler has committed. */
export function answerCommands<Q extends CommandQueue>(
  handlers: CommandHandlers<Q>,
  { reply, logger, onCommitted }: AnsweringOptions,
): Handler {
  const table: Handlers<Promise<unknown>> = handlers
  return async (envelope, { replyTo, correlationId }) => {
    try {
      const result = await callHandler(table, envelope)
      if (result === null) {
        logger.info('the command has no effect: its deadline is over, or its sender has stopped waiting', {
          type: envelope.type,
        })
        return
      }
      onCommitted()
      reply(replyTo, correlationId, { ok: true, result })
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      reply(replyTo, correlationId, { ok: false, problem: toErrorBody(error).error })
    }
  }
}

/** Handles the events of a subscriber. */
export function handleEvents<S extends Subscriber>(handlers: EventHandlers<S>): Handler {
  const table: Handlers<Promise<void> | void> = handlers
  return async (envelope) => callHandler(table, envelope)
}
