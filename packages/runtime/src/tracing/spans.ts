import { withContext } from '../context.ts'
import { currentTrace, newTrace, parseTraceparent, type TraceContext } from './trace-context.ts'

export type Attributes = Record<string, string | number | boolean>

/** A piece of work in a trace. */
export interface Span {
  /** Gives it the name that it should have had from the beginning. */
  rename(name: string): void
  set(attributes: Attributes): void
  fail(reason: string): void
}

export interface SpanOptions {
  kind: 'server' | 'client' | 'consumer' | 'internal'
  /** The `traceparent` that came with the work; where left out, the trace that is current. */
  parent?: string | null | undefined
  /** Whether a trace begins here where there is none. Without it work of no trace stays out of all. */
  begins?: boolean
  attributes?: Attributes
}

/** Records spans; there is none unless somebody collects them. */
export interface Tracer {
  start(
    name: string,
    options: SpanOptions,
    parent: TraceContext | null,
  ): { trace: TraceContext; span: Span; end(): void }
}

let tracer: Tracer | null = null

export function recordSpans(by: Tracer | null): void {
  tracer = by
}

const UNRECORDED: Span = { rename() {}, set() {}, fail() {} }
const NO_TRACE = { trace_id: undefined, span_id: undefined, trace_flags: undefined }

/** Runs `fn` as a span of its trace, until what it returns has settled. */
export function traced<T>(name: string, options: SpanOptions, fn: (span: Span) => T): T {
  const parent = options.parent === undefined ? currentTrace() : parseTraceparent(options.parent)
  if (parent === null && options.begins !== true) {
    return options.parent === undefined ? fn(UNRECORDED) : withContext(NO_TRACE, () => fn(UNRECORDED))
  }
  if (tracer === null) return withContext({ ...(parent ?? newTrace()) }, () => fn(UNRECORDED))
  const { trace, span, end } = tracer.start(name, options, parent)
  return withContext({ ...trace }, () => untilSettled(() => fn(span), span, end))
}

/** Goes on with the trace that came with some work, without a span of its own. */
function continued<T>(parent: string | null | undefined, fn: () => T): T {
  return withContext({ ...(parseTraceparent(parent) ?? NO_TRACE) }, fn)
}

/**
 * Runs `fn` on behalf of the request that something recorded came from, within its trace. Where that trace is the current
 * one already, what is current stays the parent.
 */
export function forRequest<T>(cause: { request_id: string | null; traceparent: string | null }, fn: () => T): T {
  const { request_id, traceparent } = cause
  const isCurrent = parseTraceparent(traceparent)?.trace_id === currentTrace()?.trace_id
  return withContext({ request_id }, () => (isCurrent ? fn() : continued(traceparent, fn)))
}

function untilSettled<T>(fn: () => T, span: Span, end: () => void): T {
  // The name alone: a message may tell what is not ours to send elsewhere.
  const failed = (error: unknown) => span.fail(error instanceof Error ? error.name : 'Error')
  let result: T
  try {
    result = fn()
  } catch (error) {
    failed(error)
    end()
    throw error
  }
  if (!(result instanceof Promise)) {
    end()
    return result
  }
  return result.then(
    (value) => {
      end()
      return value
    },
    (error) => {
      failed(error)
      end()
      throw error
    },
  ) as T
}
