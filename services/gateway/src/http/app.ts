import { refuseFlood } from '@slipway/limits'
import {
  currentContext,
  failSpan,
  type Logger,
  measureRequest,
  type Span,
  SpanKind,
  takeRequestId,
  traced,
  withContext,
} from '@slipway/runtime'
import express, { type Express, type NextFunction, type Request, type Response } from 'express'
import helmet from 'helmet'
import { answerConsole, CONSOLE_ROUTE, isForConsole } from '../console/page.ts'
import { answerDocs, docsRoute } from '../docs/page.ts'
import { DatabaseBusy, isDefect, problemOf } from '../problems/problem-of.ts'
import { type DispatchOptions, dispatch, type RequestDetails } from './dispatch.ts'
import { refuse } from './respond.ts'

/** Monitoring calls these every few seconds. They have no trace and no `info` line: both would hide the other requests. */
const PROBES = new Set(['/api/v1/health', '/api/v1/health/ready'])

interface AppOptions extends DispatchOptions {
  /** The address of the client. Trusted proxies do not count as clients. */
  clientAddress(request: Request): string
}

/** The HTTP application. It logs, measures and traces every request, refused ones too. */
export function createApp(options: AppOptions): Express {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.use(
    helmet({
      // For data. The one page, `/docs`, sets its own policy.
      contentSecurityPolicy: {
        useDefaults: false,
        directives: { 'default-src': ["'none'"], 'frame-ancestors': ["'none'"] },
      },
    }),
  )
  app.use((request: Request, response: Response, _next: NextFunction) => {
    void answer(options, request, response)
  })
  return app
}

async function answer(options: AppOptions, request: Request, response: Response): Promise<void> {
  const requestId = takeRequestId(request, response)
  const details: RequestDetails = { requestId, route: null, caller: null, clientIp: options.clientAddress(request) }
  response.setHeader('Cache-Control', 'no-store')
  measureRequest(request, response, () => details.route)
  const trace = {
    kind: SpanKind.SERVER,
    parent: request.get('traceparent') ?? null,
    begins: !isProbe(request),
  } as const
  await withContext({ request_id: requestId }, () =>
    traced(request.method, trace, (span) => {
      logWhenDone(options.logger, request, response, details)
      return answerTraced(options, request, response, details).finally(() =>
        describeSpan(span, request, response, details),
      )
    }),
  )
}

async function answerTraced(
  options: AppOptions,
  request: Request,
  response: Response,
  details: RequestDetails,
): Promise<void> {
  try {
    if (!isProbe(request) && !(await options.limits.general.admits(details.clientIp))) {
      refuseFlood(response)
      return
    }
    const page = docsRoute(request.path)
    if (page !== null) {
      details.route = page
      await answerDocs(request, response)
      return
    }
    if (isForConsole(request)) {
      details.route = CONSOLE_ROUTE
      await answerConsole(request, response)
      return
    }
    await dispatch(options, request, response, details)
  } catch (error) {
    const problem = problemOf(error)
    if (isDefect(problem)) options.logger.error('a request failed', { code: problem.code, error })
    if (problem instanceof DatabaseBusy) options.logger.warn('the database was too busy for a request', { error })
    refuse(response, problem)
  }
}

function describeSpan(
  span: Span,
  { method }: Request,
  { statusCode }: Response,
  { route, requestId }: RequestDetails,
): void {
  if (route !== null) span.updateName(`${method} ${route}`)
  span.setAttributes({
    'http.request.method': method,
    'http.response.status_code': statusCode,
    ...(route === null ? {} : { 'http.route': route }),
    'slipway.request_id': requestId,
  })
  if (statusCode >= 500) failSpan(span, String(statusCode))
}

/** Probes are not rate limited: they are cheap, and one address may probe for many. */
const isProbe = ({ method, path }: Request) => (method === 'GET' || method === 'HEAD') && PROBES.has(path)

/** Logs one line per request. Query and body are left out: they may hold secrets. */
function logWhenDone(logger: Logger, request: Request, response: Response, details: RequestDetails): void {
  const started = performance.now()
  // Read now: `close` runs in the context of the connection, not of the request.
  const { trace_id } = currentContext()
  response.once('close', () => {
    const { requestId, route, caller } = details
    const write = route !== null && PROBES.has(route) ? logger.debug : logger.info
    write('request', {
      request_id: requestId,
      trace_id,
      method: request.method,
      route,
      status: response.statusCode,
      duration_ms: Math.round((performance.now() - started) * 10) / 10,
      complete: response.writableFinished,
      ...(caller === null ? {} : { user_id: caller.user_id, username: caller.username, tenant_id: caller.tenant_id }),
    })
  })
}
