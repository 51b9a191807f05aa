import type { IncomingHttpHeaders } from 'node:http'
import type { OPERATIONS, OperationId, Static, TSchema } from '@slipway/contracts'
import type { FieldError } from '@slipway/domain'
import type { Answer, HttpCall } from '@slipway/http'
import type { AuditTrail } from './audit-trail.ts'
import type { CallingUser } from './callers/calling-user.ts'

type Operations = typeof OPERATIONS

type StaticOf<Id extends OperationId, Part extends 'body' | 'query'> = Operations[Id] extends {
  [P in Part]: infer S extends TSchema
}
  ? Static<S>
  : Record<string, never>

/** A call of an operation, authorized and valid. */
export interface Call<Id extends OperationId = OperationId> {
  params: Record<string, string>
  query: StaticOf<Id, 'query'>
  /** The bytes of an upload as they arrive, else the parsed JSON. */
  body: Operations[Id] extends { takesBytes: true } ? AsyncIterable<Buffer> : StaticOf<Id, 'body'>
  /** Null in a public operation. */
  caller: Operations[Id]['access'] extends 'public' | 'sse' ? null : CallingUser
  requestId: string
  /** They count from the arrival of the call, without the time in which the body arrived. */
  bounds: AnswerBounds
  clientIp: string
  headers: IncomingHttpHeaders
  audit: AuditTrail
}

/** Checks rules that a schema cannot express. `missing` names the absent field, as in SchemaProblem. */
export type Check = (body: Record<string, unknown>) => (FieldError & { missing?: string })[]

export interface JsonHandler<Id extends OperationId> {
  handle(call: Call<Id>): Promise<Answer>
  /** Throws a Problem if the call needs more than the permission of the operation. The body is not yet validated. */
  authorize?(caller: CallingUser, body: unknown): void
  /** Runs also for a body that breaks its schema: the client gets all errors at once. */
  check?: Check
}

/** Writes the response itself, because an event stream is not JSON. */
export interface StreamHandler {
  stream(call: HttpCall): void
}

/** The handlers of all operations. The compiler reports a missing one. */
export type Handlers = {
  [Id in OperationId]: Operations[Id]['access'] extends 'sse' ? StreamHandler : JsonHandler<Id>
}

/** The handlers of some operations. */
export type HandlersOf<Id extends OperationId> = Pick<Handlers, Id>

/** How long a caller waits, in ms. */
export interface AnswerTimes {
  /** The receiver drops an older command, so a 503 after this time is true. */
  effectMs: number
  /** Longer than `effectMs`: a command that begins just before that time can still answer. */
  answerMs: number
  /** The longest time for an answer, whatever the database does (I28). */
  lastMs: number
  /** How long a call that changes nothing may hold rows which others wait for. */
  heldMs: number
}

export const ANSWER_TIMES: AnswerTimes = { effectMs: 8_000, answerMs: 9_000, lastMs: 10_000, heldMs: 2_000 }

/** Until when a call may take effect and wait for its result, by performance.now(). See AnswerTimes. */
export interface AnswerBounds {
  effect: number
  answer: number
  last: number
}

/** The bounds of a caller that waits since `since`, by performance.now(). */
export const boundsOf = (since: number, { effectMs, answerMs, lastMs }: AnswerTimes): AnswerBounds => ({
  effect: since + effectMs,
  answer: since + answerMs,
  last: since + lastMs,
})
