import {
  type Attributes,
  isSpanContextValid,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import { withContext } from '../context.ts'
import { currentTrace, fieldsOf, NO_TRACE, newTrace, parseTraceparent } from './trace-context.ts'

export { type Span, SpanKind }

interface SpanOptions {
  kind: SpanKind
  /** The `traceparent` of the request or message. By default, the current trace. */
  parent?: string | null | undefined
  /** Whether to begin a new trace if there is none. Otherwise work outside a trace has no span. */
  begins?: boolean
  attributes?: Attributes
}

/** Records nothing until otlp.ts registers a provider. */
const tracer = trace.getTracer('slipway')
const OUTSIDE = trace.wrapSpanContext({ traceId: '', spanId: '', traceFlags: 0 })

/** Runs `fn` in a span. The span ends when the result of `fn` has settled. */
export function traced<T>(name: string, options: SpanOptions, fn: (span: Span) => T): T {
  const { kind, attributes = {}, begins = false } = options
  const parent = options.parent === undefined ? currentTrace() : parseTraceparent(options.parent)
  if (parent === null && !begins) return withContext(NO_TRACE, () => fn(OUTSIDE))
  const context = parent === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent)
  const span = tracer.startSpan(name, { kind, attributes }, context)
  return withContext(fieldsOf(traceOf(span)), () => untilSettled(() => fn(span), span))
}

export const failSpan = (span: Span, reason: string) => span.setStatus({ code: SpanStatusCode.ERROR, message: reason })

/** Without a provider a new trace has no id. Log lines need an id to connect the lines of all services. */
function traceOf(span: Span): SpanContext {
  const own = span.spanContext()
  return isSpanContextValid(own) ? own : newTrace()
}

/**
 * Runs `fn` for the request that caused a recorded event, within the trace of that request. If that trace is already
 * current, the current span stays the parent.
 */
export function forRequest<T>(cause: { request_id: string | null; traceparent: string | null }, fn: () => T): T {
  const { request_id, traceparent } = cause
  const caused = parseTraceparent(traceparent)
  const isCurrent = caused?.traceId === currentTrace()?.traceId
  return withContext({ request_id, ...(isCurrent ? {} : caused === null ? NO_TRACE : fieldsOf(caused)) }, fn)
}

function untilSettled<T>(fn: () => T, span: Span): T {
  // The name of the error is enough. Its message may hold data that must not leave the service.
  const fail = (error: unknown) => failSpan(span, error instanceof Error ? error.name : 'Error')
  let result: T
  try {
    result = fn()
  } catch (error) {
    fail(error)
    span.end()
    throw error
  }
  if (!(result instanceof Promise)) {
    span.end()
    return result
  }
  const failed = (error: unknown) => {
    fail(error)
    throw error
  }
  return result.catch(failed).finally(() => span.end()) as T
}
