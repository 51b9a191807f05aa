import { compile } from '../validation.ts'
import {
  COMMANDS,
  type CommandBody,
  type CommandQueue,
  type CommandReply,
  type CommandsOf,
  type CommandType,
} from './commands.ts'
import { EVENTS, type EventBody, type EventsOf, type Subscriber } from './events.ts'

/** The API key that authenticated a call: the audit record of the call names it. The name stays there when the key is deleted. */
export interface CallingKey {
  id: string
  name: string
}

export interface Envelope<B = unknown> {
  message_id: string
  type: string
  /** The id of the HTTP request that caused the message, if any. */
  request_id: string | null
  timestamp: string
  /** The W3C trace of the message, if any. */
  traceparent?: string
  /** Only in command messages: after this time (ISO 8601) the command has no effect. */
  deadline?: string
  /** Only in command messages: the API key of the call, if any. */
  api_key?: CallingKey
  body: B
}

/** What a handler gets with the body. */
export type MessageHeaders = Omit<Envelope, 'type' | 'body'>

/**
 * The handlers of all commands of a queue. The compiler reports missing and extra ones. A handler returns the answer, or null if
 * the command is too late for an effect.
 */
export type CommandHandlers<Q extends CommandQueue> = {
  [T in CommandsOf<Q>]: (body: CommandBody<T>, received: MessageHeaders) => Promise<CommandReply<T> | null>
}

/** Like CommandHandlers, for handlers with an outcome that the caller turns into the answer. */
export type CommandSteps<Q extends CommandQueue, Outcome> = {
  [T in CommandsOf<Q>]: (body: CommandBody<T>, received: MessageHeaders) => Promise<Outcome>
}

/** The handlers of all events of a subscriber. */
export type EventHandlers<S extends Subscriber> = {
  [T in EventsOf<S>]: (body: EventBody<T>, received: MessageHeaders) => Promise<void> | void
}

const validators = new Map(
  [...Object.entries(COMMANDS), ...Object.entries(EVENTS)].map(([type, { body }]) => [type, compile(body)]),
)
const replyValidators = new Map(Object.entries(COMMANDS).map(([type, { reply }]) => [type, compile(reply)]))

/** The problems of the body of a message. An unknown type is a problem, too. */
export const validateBody = (type: string, body: unknown): string[] => problemsOf(validators, type, body)

/** The problems of the answer to a command. */
export const validateReply = (type: CommandType, result: unknown): string[] => problemsOf(replyValidators, type, result)

function problemsOf(of: typeof validators, type: string, value: unknown): string[] {
  const validate = of.get(type)
  if (validate === undefined) return [`unknown message type ${JSON.stringify(type)}`]
  return validate(value).map((p) => `${p.path} ${p.message}`)
}

/** The answer to a command over direct reply-to. */
export type ReplyEnvelope<R = unknown> =
  | { ok: true; result: R }
  | { ok: false; problem: { code: string; message: string; details?: Record<string, unknown> } }
