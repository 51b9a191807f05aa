import { compile } from '../validation.ts'
import { COMMANDS, type CommandType } from './commands.ts'
import { EVENTS, type EventType } from './events.ts'

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
  /** Commands only: a form of the answer that the sender reads, where there are several. */
  accepts?: string
  body: B
}

export type MessageType = CommandType | EventType

const validators = new Map(
  [...Object.entries(COMMANDS), ...Object.entries(EVENTS)].map(([type, { body }]) => [type, compile(body)]),
)

/** What is wrong with a message's body, or nothing. Unknown types are wrong. */
export function validateBody(type: string, body: unknown): string[] {
  const validate = validators.get(type)
  if (validate === undefined) return [`unknown message type ${JSON.stringify(type)}`]
  return validate(body).map((p) => `${p.path} ${p.message}`)
}

/** Answer to a command over direct reply-to. */
export type ReplyEnvelope<R = unknown> =
  | { ok: true; result: R }
  | { ok: false; problem: { code: string; message: string; details?: Record<string, unknown> } }
