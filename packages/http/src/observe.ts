import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  currentContext,
  failSpan,
  histogram,
  type Logger,
  SpanKind,
  traced,
  uuidv7,
  withContext,
} from '@slipway/runtime'
import { type AnyRefusal, Refusal } from './refusal.ts'
import type { HttpCall } from './routes.ts'

/**
 * Who calls: users and their programs, or programs of Slipway. Users can do many things wrongly, so their refusals are normal. A
 * refused program of Slipway is a warning, with the reason, and its other requests are logged at `debug`.
 */
export type Callers = 'users' | 'programs'

interface Observed {
  logger: Logger
  callers: Callers
  isPolled: boolean
}

/** Logs, measures and traces a request. `answer` sends the answer, and returns the refusal if that is the answer. */
export async function observe(
  call: HttpCall,
  { logger, callers, isPolled }: Observed,
  answer: () => Promise<AnyRefusal | null>,
): Promise<void> {
  const { request, response, method, requestId } = call
  const started = performance.now()
  const { traceparent } = request.headers
  const trace = {
    kind: SpanKind.SERVER,
    parent: traceparent === undefined || isPolled ? null : String(traceparent),
    begins: callers === 'users' && !isPolled,
  }
  await withContext({ request_id: requestId }, () =>
    traced(method, trace, async (span) => {
      let refusal: AnyRefusal | null = null
      // Read now: `close` comes in the context of the connection, not of the request.
      const { trace_id } = currentContext()
      response.once('close', () => {
        const seconds = (performance.now() - started) / 1_000
        measure(call, seconds)
        const line = { request_id: requestId, trace_id, ...lineOf(call, refusal), duration_ms: toTenths(seconds) }
        if (callers === 'programs' && isWorthWarning(refusal) && response.writableFinished) {
          logger.warn('a request was refused', { ...line, path: call.path, reason: reasonOf(refusal) })
        } else if (callers === 'users' && !isPolled) logger.info('request', line)
        else logger.debug('request', line)
      })
      refusal = await answer()
      const { statusCode } = response
      if (call.route !== null) span.updateName(`${method} ${call.route}`)
      span.setAttributes({
        'http.request.method': method,
        'http.response.status_code': statusCode,
        ...(call.route === null ? {} : { 'http.route': call.route }),
        'slipway.request_id': requestId,
      })
      if (statusCode >= 500) failSpan(span, String(statusCode))
    }),
  )
}

/** Query and body are left out: they may hold secrets. */
function lineOf({ method, route, response, log }: HttpCall, refusal: AnyRefusal | null): Record<string, unknown> {
  return {
    method,
    route,
    status: response.statusCode,
    complete: response.writableFinished,
    ...log,
    ...(refusal === null ? {} : { code: refusal.code }),
  }
}

const isWorthWarning = (refusal: AnyRefusal | null): refusal is AnyRefusal =>
  refusal !== null && !(refusal instanceof Refusal && refusal.isExpected)

const toTenths = (seconds: number) => Math.round(seconds * 10_000) / 10

const MAX_REASON = 500

/** The message about a malformed body quotes the body, which may hold secrets. */
const reasonOf = ({ code, message }: AnyRefusal) => (code === 'INVALID_BODY' ? undefined : message.slice(0, MAX_REASON))

const requests = histogram(
  'slipway_http_request_duration_seconds',
  'Time from the arrival of a request to the end of its answer, without streams',
  ['method', 'route', 'status'],
)

/** The client closed the connection before the answer. */
const GONE = '499'

function measure({ method, route, response }: HttpCall, seconds: number): void {
  // The length of a stream depends on the client, not on the server.
  if (String(response.getHeader('content-type')).startsWith('text/event-stream')) return
  const status = response.headersSent ? String(response.statusCode) : GONE
  requests.observe({ method, route: route ?? 'none', status }, seconds)
}

/** Only characters that are safe in a log line and in a header. */
const ACCEPTED_ID = /^[A-Za-z0-9._-]{1,128}$/

/** Returns the request id of the caller, or a new id if the caller's is not valid. Sets `X-Request-Id` of the answer. */
export function takeRequestId(request: IncomingMessage, response: ServerResponse): string {
  const given = request.headers['x-request-id']
  const id = typeof given === 'string' && ACCEPTED_ID.test(given) ? given : uuidv7()
  response.setHeader('X-Request-Id', id)
  return id
}
