import type { IncomingHttpHeaders } from 'node:http'
import type { OPERATIONS, OperationId, Static, TSchema } from '@slipway/contracts'
import type { FieldError } from '@slipway/domain'
import type { Request, Response } from 'express'
import type { AuditTrail } from '../audit-trail/trail.ts'
import type { CallingUser } from '../callers/calling-user.ts'

type Operations = typeof OPERATIONS

type StaticOf<Id extends OperationId, Part extends 'body' | 'query'> = Operations[Id] extends {
  [P in Part]: infer S extends TSchema
}
  ? Static<S>
  : Record<string, never>

/** One valid call of an operation by somebody who may make it. */
export interface Call<Id extends OperationId = OperationId> {
  params: Record<string, string>
  query: StaticOf<Id, 'query'>
  /** Where an operation takes bytes, these, as they come. */
  body: Operations[Id] extends { takesBytes: true } ? AsyncIterable<Buffer> : StaticOf<Id, 'body'>
  /** Null only where the operation is open to anybody. */
  caller: Operations[Id]['access'] extends 'public' | 'sse' ? null : CallingUser
  requestId: string
  clientIp: string
  headers: IncomingHttpHeaders
  /** Where an operation with an `audit` action leaves its record. */
  audit: AuditTrail
}

/** What is sent back. `json` is a body that is text already; `chunks` one that is too large to hold in memory; `bytes` the same, not JSON. */
export type Answer = { status: number; headers?: Record<string, string> } & (
  | { body?: unknown }
  | { json: string }
  | { bytes: AsyncIterable<Buffer>; length: number }
  | { chunks: AsyncIterable<string> }
)

/** What a field of a request breaks beyond its schema. `missing` as in the contracts: absent, and nothing else wrong. */
export type Check = (body: Record<string, unknown>) => (FieldError & { missing?: string })[]

/** How one operation is carried out. */
export interface JsonHandler<Id extends OperationId> {
  handle(call: Call<Id>): Promise<Answer>
  /** Throws a Problem where more than the operation's permission is needed. The body is not yet validated. */
  authorize?(caller: CallingUser, body: unknown): void
  /** Rules that the schema cannot say. It sees unvalidated bodies, so that everything wrong is reported at once. */
  check?: Check
}

/** For what is no JSON: the handler writes the response itself. */
export interface StreamHandler {
  stream(request: Request, response: Response): void
}

/** The compiler misses an operation without a handler. */
export type Handlers = {
  [Id in OperationId]: Operations[Id]['access'] extends 'sse' ? StreamHandler : JsonHandler<Id>
}

/** A part of the table, for the folder that owns these operations. */
export type HandlersOf<Id extends OperationId> = Pick<Handlers, Id>
