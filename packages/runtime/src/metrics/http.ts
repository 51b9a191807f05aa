import type { IncomingMessage, ServerResponse } from 'node:http'
import { histogram } from './registry.ts'

const requests = histogram(
  'slipway_http_request_duration_seconds',
  'Time from the arrival of a request to the end of its answer, without streams',
  ['method', 'route', 'status'],
)

/** The client closed the connection before the answer. */
const GONE = '499'

/** Measures a request until the end of its answer. Then calls `route`, which must return the template of the path. */
export function measureRequest(
  request: IncomingMessage,
  response: ServerResponse,
  route: () => string | null | undefined,
): void {
  const started = performance.now()
  response.once('close', () => {
    // The length of a stream depends on the client, not on the server.
    if (String(response.getHeader('content-type')).startsWith('text/event-stream')) return
    const status = response.headersSent ? String(response.statusCode) : GONE
    const labels = { method: request.method ?? '', route: route() ?? 'none', status }
    requests.observe(labels, (performance.now() - started) / 1_000)
  })
}
