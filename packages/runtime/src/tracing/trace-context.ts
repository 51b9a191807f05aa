import { randomBytes } from 'node:crypto'
import { isSpanContextValid, type SpanContext, TraceFlags } from '@opentelemetry/api'
import { type Context, currentContext } from '../context.ts'

/** The trace is part of the context, so every log line has its fields. */
export const NO_TRACE = { trace_id: undefined, span_id: undefined, trace_flags: undefined } satisfies Context

export const fieldsOf = ({ traceId, spanId, traceFlags }: SpanContext) => ({
  trace_id: traceId,
  span_id: spanId,
  trace_flags: traceFlags & TraceFlags.SAMPLED ? '01' : '00',
})

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

/** Reads a W3C `traceparent`; null for any other value. */
export function parseTraceparent(value: unknown): SpanContext | null {
  const [, version, traceId = '', spanId = '', flags = '', more] = TRACEPARENT.exec(String(value)) ?? []
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return null
  const traceFlags = Number.parseInt(flags, 16) & TraceFlags.SAMPLED
  const context = { traceId, spanId, traceFlags, isRemote: true }
  return isSpanContextValid(context) ? context : null
}

/** A new trace that is not recorded. */
export function newTrace(): SpanContext {
  return {
    traceId: randomBytes(16).toString('hex'),
    spanId: randomBytes(8).toString('hex'),
    traceFlags: TraceFlags.NONE,
  }
}

export function currentTrace(): SpanContext | null {
  return parseTraceparent(currentTraceparent())
}

/** The `traceparent` to send with messages and calls; null outside a trace. */
export function currentTraceparent(): string | null {
  const { trace_id, span_id, trace_flags } = currentContext()
  return trace_id === undefined ? null : `00-${trace_id}-${span_id}-${trace_flags}`
}
