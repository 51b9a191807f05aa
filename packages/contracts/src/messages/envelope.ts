import { compile } from '../validation.ts'
import {
  COMMANDS,
  type CommandBody,
  type CommandQueue,
  type CommandReply,
  type CommandsOf,
  type CommandType,
} from './commands.ts'
import { EVENTS, type EventBody, type EventsOf, type EventType, type Subscriber } from './events.ts'

/** What every message carries around its body. */
export interface Envelope<B = unknown> {
  message_id: string
  type: string
  /** The id of the HTTP request that caused it, where one did. */
  request_id: string | null
  timestamp: string
  /** W3C: the trace that it is part of, where there is one. */
  traceparent?: string
  /** Commands only: past this moment the command has no effect (ISO 8601). */
  deadline?: string
  body: B
}

export type MessageType = CommandType | EventType

/** What the handler of a message is given besides its body. */
export type Received = Omit<Envelope, 'type' | 'body'>

/**
 * One handler for each command of a queue: a missing one does not compile, nor does one that no command has. A handler gives the
 * answer, or null when the command came too late for an effect.
 */
export type CommandHandlers<Q extends CommandQueue> = {
  [T in CommandsOf<Q>]: (body: CommandBody<T>, received: Received) => Promise<CommandReply<T> | null>
}

/** The same for handlers whose answer somebody else makes of what they give. */
export type CommandSteps<Q extends CommandQueue, Outcome> = {
  [T in CommandsOf<Q>]: (body: CommandBody<T>, received: Received) => Promise<Outcome>
}

/** One handler for each event of a subscriber. */
export type EventHandlers<S extends Subscriber> = {
  [T in EventsOf<S>]: (body: EventBody<T>, received: Received) => Promise<void> | void
}

const validators = new Map(
  [...Object.entries(COMMANDS), ...Object.entries(EVENTS)].map(([type, { body }]) => [type, compile(body)]),
)
const replyValidators = new Map(Object.entries(COMMANDS).map(([type, { reply }]) => [type, compile(reply)]))

/** What is wrong with a message's body, or nothing. Unknown types are wrong. */
export const validateBody = (type: string, body: unknown): string[] => problemsOf(validators, type, body)

/** What is wrong with the result that answers a command, or nothing. */
export const validateReply = (type: CommandType, result: unknown): string[] => problemsOf(replyValidators, type, result)

function problemsOf(of: typeof validators, type: string, value: unknown): string[] {
  const validate = of.get(type)
  if (validate === undefined) return [`unknown message type ${JSON.stringify(type)}`]
  return validate(value).map((p) => `${p.path} ${p.message}`)
}

/** Answer to a command over direct reply-to. */
export type ReplyEnvelope<R = unknown> =
  | { ok: true; result: R }
  | { ok: false; problem: { code: string; message: string; details?: Record<string, unknown> } }
