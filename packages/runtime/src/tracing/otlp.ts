import { DiagLogLevel, diag, trace } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base'
import type { Logger } from '../logger.ts'
import { SLIPWAY_VERSION } from '../version.ts'

/** The time between two warnings, so that a lost collector does not fill the log. */
const WARN_EVERY_MS = 60_000

interface OtlpOptions {
  service: string
  /** Base URL of the collector. */
  endpoint: string
  /** `name=value`, comma separated. */
  headers: string | undefined
  logger: Logger
}

/**
 * Records spans and sends them in batches over OTLP/HTTP. The queue is bounded: spans that the collector does not accept in
 * time are dropped. Returns a function that sends the rest and stops. This module is loaded only if an endpoint is set.
 */
export function exportSpans({ service, endpoint, headers, logger }: OtlpOptions): () => Promise<void> {
  warnTo(logger)
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
  trace.setGlobalTracerProvider(provider)
  return () => provider.shutdown()
}

function warnTo(logger: Logger): void {
  let quietUntil = 0
  const warn = (message: string) => {
    if (performance.now() < quietUntil) return
    quietUntil = performance.now() + WARN_EVERY_MS
    logger.warn('traces could not be sent: check OTEL_EXPORTER_OTLP_ENDPOINT', { reason: message })
  }
  const silent = () => {}
  const to = { error: warn, warn, info: silent, debug: silent, verbose: silent }
  diag.setLogger(to, DiagLogLevel.WARN)
}

function pairsOf(text = ''): Record<string, string> {
  const pairs = text.split(',').filter((pair) => pair.includes('='))
  return Object.fromEntries(
    pairs.map((pair) => [pair.slice(0, pair.indexOf('=')).trim(), pair.slice(pair.indexOf('=') + 1).trim()]),
  )
}
