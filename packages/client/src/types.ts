import type { components, operations } from './generated/openapi.ts'
import type { ROUTES } from './generated/routes.ts'

/** A record or request body by its name in the OpenAPI document. */
export type Schema<N extends keyof components['schemas']> = components['schemas'][N]

/** An operation by its `operationId` in the OpenAPI document. */
export type OperationId = keyof typeof ROUTES & keyof operations

type Bodies<R> = {
  [S in keyof R]: R[S] extends { content: { 'application/json': infer B } }
    ? B
    : R[S] extends { content: { 'application/octet-stream': unknown } }
      ? Uint8Array
      : undefined
}

/** The answer of an operation; a union if it has several answers. */
export type Answer<O extends OperationId> = Bodies<operations[O]['responses']>[keyof operations[O]['responses']]

// A query holds numbers as text; callers pass numbers.
type Query<Q> = { [K in keyof Q]: string extends NonNullable<Q[K]> ? Q[K] | number : Q[K] }
type Given<K extends string, V> = [NonNullable<V>] extends [never]
  ? unknown
  : undefined extends V
    ? { [P in K]?: V }
    : { [P in K]: V }
type Json<B> = B extends { content: infer C }
  ? C extends { 'application/json': infer J }
    ? J
    : Uint8Array | Blob
  : undefined extends B
    ? undefined | Json<NonNullable<B>>
    : never

export interface CallOptions {
  /** Ends the call, its retries and the waiting between them. */
  signal?: AbortSignal
  /** For operations that accept a key. Generated if omitted, so that a retry never has a second effect. */
  idempotencyKey?: string
}

/** The values for path, query and body of an operation. */
export type Input<O extends OperationId> = Given<'params', operations[O]['parameters']['path']> &
  Given<'query', Query<operations[O]['parameters']['query']>> &
  Given<'body', operations[O] extends { requestBody: infer B } ? Json<B> : OptionalBody<O>> &
  CallOptions

type OptionalBody<O extends OperationId> = operations[O] extends { requestBody?: infer B }
  ? Json<NonNullable<B>> | undefined
  : never

export type InputArguments<O extends OperationId> = object extends Input<O> ? [input?: Input<O>] : [input: Input<O>]

/** Operations that answer with a page of records. */
export type ListOperation = {
  [O in OperationId]: Answer<O> extends { data: unknown[]; meta: unknown } ? O : never
}[OperationId]

/** One record of such a list. */
export type Item<O extends ListOperation> = Answer<O> extends { data: (infer T)[] } ? T : never
