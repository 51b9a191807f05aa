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
import { answerDocs, docsRoute } from '../docs/page.ts'
import { DatabaseBusy, isDefect, problemOf } from '../problems/problem-of.ts'
import { type DispatchOptions, dispatch, type Progress } from './dispatch.ts'
import { refuse } from './respond.ts'

/** Called every few seconds by whatever watches us; their lines would hide the others. */
const PROBES = new Set(['/api/v1/health', '/api/v1/health/ready'])

export interface AppOptions extends DispatchOptions {
  /** Where a request came from, proxies that we trust left aside. */
  clientAddress(request: Request): string
}

/** The HTTP application: every answer, refusals included, is made and logged here. */
export function createApp(options: AppOptions): Express {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.use(
    helmet({
      // Nothing that this API answers is a page.
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
  const progress: Progress = { requestId, route: null, caller: null, clientIp: options.clientAddress(request) }
  response.setHeader('Cache-Control', 'no-store')
  measureRequest(request, response, () => progress.route)
  // Probes are no traces: they would hide the others.
  const trace = {
    kind: SpanKind.SERVER,
    parent: request.get('traceparent') ?? null,
    begins: !isProbe(request),
  } as const
  await withContext({ request_id: requestId }, () =>
    traced(request.method, trace, (span) => {
      logWhenDone(options.logger, request, response, progress)
      return answerTraced(options, request, response, progress).finally(() =>
        describe(span, request, response, progress),
      )
    }),
  )
}

async function answerTraced(
  options: AppOptions,
  request: Request,
  response: Response,
  progress: Progress,
): Promise<void> {
  try {
    if (!isProbe(request) && !(await options.limits.general.admits(progress.clientIp))) {
      refuseFlood(response)
      return
    }
    const page = docsRoute(request.path)
    if (page !== null) {
      progress.route = page
      await answerDocs(request, response)
      return
    }
    await dispatch(options, request, response, progress)
  } catch (error) {
    const problem = problemOf(error)
    if (isDefect(problem)) options.logger.error('a request failed', { code: problem.code, error })
    if (problem instanceof DatabaseBusy) options.logger.warn('the database had no time for a request', { error })
    refuse(response, problem)
  }
}

function describe(span: Span, { method }: Request, { statusCode }: Response, { route, requestId }: Progress): void {
  if (route !== null) span.updateName(`${method} ${route}`)
  span.setAttributes({
    'http.request.method': method,
    'http.response.status_code': statusCode,
    ...(route === null ? {} : { 'http.route': route }),
    'slipway.request_id': requestId,
  })
  if (statusCode >= 500) failSpan(span, String(statusCode))
}

/** Probes come on their own schedule, often from one address for many; they are cheap and not limited. */
const isProbe = ({ method, path }: Request) => (method === 'GET' || method === 'HEAD') && PROBES.has(path)

/** One line for each request: never its query, which may hold a token, and never what it carried. */
function logWhenDone(logger: Logger, request: Request, response: Response, progress: Progress): void {
  const started = performance.now()
  // The connection's context is not the request's.
  const { trace_id } = currentContext()
  response.once('close', () => {
    const { requestId, route, caller } = progress
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
