import { randomBytes } from 'node:crypto'
import { currentContext } from '../context.ts'

/** Where in which trace we are. Part of the context, so that every log line has it. */
export interface TraceContext {
  trace_id: string
  span_id: string
  /** `01` where the trace is recorded, else `00`. */
  trace_flags: string
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const NOTHING = /^0+$/

/** Reads a W3C `traceparent`; null for anything that is none. */
export function parseTraceparent(value: unknown): TraceContext | null {
  const [, version, trace_id = '', span_id = '', flags = '', more] = TRACEPARENT.exec(String(value)) ?? []
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return null
  if (NOTHING.test(trace_id) || NOTHING.test(span_id)) return null
  return { trace_id, span_id, trace_flags: Number.parseInt(flags, 16) & 1 ? '01' : '00' }
}

/** A trace that begins here and is not recorded: its id holds the log lines of all services together. */
export function newTrace(): TraceContext {
  return { trace_id: randomBytes(16).toString('hex'), span_id: randomBytes(8).toString('hex'), trace_flags: '00' }
}

export function currentTrace(): TraceContext | null {
  const { trace_id, span_id, trace_flags } = currentContext()
  return typeof trace_id === 'string' && typeof span_id === 'string'
    ? { trace_id, span_id, trace_flags: trace_flags === '01' ? '01' : '00' }
    : null
}

/** What a message or a call from here carries; null outside of any trace. */
export function currentTraceparent(): string | null {
  const trace = currentTrace()
  return trace && `00-${trace.trace_id}-${trace.span_id}-${trace.trace_flags}`
}
