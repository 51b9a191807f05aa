import { DiagLogLevel, diag, ROOT_CONTEXT, SpanKind, SpanStatusCode, TraceFlags, trace } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base'
import type { Logger } from '../logger.ts'
import { SLIPWAY_VERSION } from '../version.ts'
import { recordSpans, type Tracer } from './spans.ts'

const KINDS = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  consumer: SpanKind.CONSUMER,
  internal: SpanKind.INTERNAL,
}
/** A collector that is away must not fill the log. */
const COMPLAIN_EVERY_MS = 60_000

export interface OtlpOptions {
  service: string
  /** Base URL of the collector. */
  endpoint: string
  /** `name=value`, comma separated. */
  headers: string | undefined
  logger: Logger
}

/**
 * Records spans and sends them in batches over OTLP/HTTP. What waits is bounded: spans that a collector does not take in
 * time are dropped. Returns what sends the rest and ends it. Loaded only where it is configured.
 */
export function exportSpans({ service, endpoint, headers, logger }: OtlpOptions): () => Promise<void> {
  complainTo(logger)
  const exporter = new OTLPTraceExporter({
    url: `${endpoint.replace(/\/+$/, '')}/v1/traces`,
    headers: pairsOf(headers),
  })
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({
      'service.name': service,
      'service.namespace': 'slipway',
      'service.version': SLIPWAY_VERSION,
    }),
    spanProcessors: [new BatchSpanProcessor(exporter)],
  })
  recordSpans(tracerOf(provider))
  return async () => {
    recordSpans(null)
    await provider.shutdown()
  }
}

function tracerOf(provider: BasicTracerProvider): Tracer {
  const tracer = provider.getTracer('slipway', SLIPWAY_VERSION)
  return {
    start(name, { kind, attributes = {} }, parent) {
      const context =
        parent === null
          ? ROOT_CONTEXT
          : trace.setSpanContext(ROOT_CONTEXT, {
              traceId: parent.trace_id,
              spanId: parent.span_id,
              traceFlags: parent.trace_flags === '01' ? TraceFlags.SAMPLED : TraceFlags.NONE,
              isRemote: true,
            })
      const span = tracer.startSpan(name, { kind: KINDS[kind], attributes }, context)
      const { traceId, spanId, traceFlags } = span.spanContext()
      return {
        trace: { trace_id: traceId, span_id: spanId, trace_flags: traceFlags & TraceFlags.SAMPLED ? '01' : '00' },
        span: {
          rename: (to) => void span.updateName(to),
          set: (more) => void span.setAttributes(more),
          fail: (reason) => void span.setStatus({ code: SpanStatusCode.ERROR, message: reason }),
        },
        end: () => span.end(),
      }
    },
  }
}

function complainTo(logger: Logger): void {
  let quietUntil = 0
  const complain = (message: string) => {
    if (Date.now() < quietUntil) return
    quietUntil = Date.now() + COMPLAIN_EVERY_MS
    logger.warn('traces could not be sent', { reason: message })
  }
  const silent = () => {}
  const to = { error: complain, warn: complain, info: silent, debug: silent, verbose: silent }
  diag.setLogger(to, DiagLogLevel.WARN)
}

function pairsOf(text = ''): Record<string, string> {
  const pairs = text.split(',').filter((pair) => pair.includes('='))
  return Object.fromEntries(
    pairs.map((pair) => [pair.slice(0, pair.indexOf('=')).trim(), pair.slice(pair.indexOf('=') + 1).trim()]),
  )
}
