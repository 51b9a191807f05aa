import type { ServerResponse } from 'node:http'
import type { Database } from '@slipway/database'
import { isConnectionError } from '@slipway/database'
import { isUuid, notFound, Problem, toErrorBody, validationProblem } from '@slipway/domain'
import { type Logger, uuidv7, withContext } from '@slipway/runtime'
import express, { type ErrorRequestHandler, type Express, type Request, type RequestHandler } from 'express'
import type { Redis } from 'ioredis'
import { findVisible } from '../deployments/queries.ts'
import type { Hubs } from '../streams/hubs.ts'
import { Watcher, type WatcherLimits } from '../streams/watcher.ts'
import type { Guard } from '../tokens/guard.ts'
import { redeemToken, requirePermission } from '../tokens/redeem.ts'
import type { Standing } from '../tokens/standing.ts'

export interface LogStream {
  database: Database
  redis: Redis
  namespace: string
  logger: Logger
  hubs: Hubs
  guard: Guard
  limits: WatcherLimits
}

const PERMISSION = 'deployments:read'

/** The streams that clients reach through the gateway. The token of the query is all the authentication there is. */
export function createApp(stream: LogStream): Express {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.use(requestContext)

  app
    .route('/api/v1/deployments/:id/logs')
    .all((request, response, next) => {
      // HEAD too: it would spend a token on a stream without content.
      if (request.method === 'GET') return next()
      response.set('Allow', 'GET')
      throw new Problem('METHOD_NOT_ALLOWED', 'A log stream is read with GET')
    })
    .get(async (request, response) => {
      const { record, standing } = await redeemToken(stream, request.query['sse_token'])
      requirePermission(standing, PERMISSION)
      const from = fromParameter(request)
      const id = await visibleDeployment(stream, standing, String(request.params['id']))
      const letGo = stream.guard.keep(
        record,
        (now) => now.permissions.includes(PERMISSION) && now.tenant_id === standing.tenant_id,
        () => response.destroy(),
      )
      response.once('close', letGo)
      await stream.hubs.use(id, async (hub, watch) => {
        const { database, logger, limits } = stream
        logger.info('a log stream was opened', { deployment_id: id, user_id: record.user_id, from })
        beginStream(response)
        await watch(new Watcher(hub, response, { database, logger, limits, from }))
      })
    })

  app.use(() => {
    throw notFound('The route')
  })
  app.use(answerError(stream.logger))
  return app
}

async function visibleDeployment({ database }: LogStream, standing: Standing, id: string): Promise<string> {
  const found = isUuid(id) ? await findVisible(database, id, standing.tenant_id) : null
  if (!found) throw notFound('The deployment')
  return found.id
}

function fromParameter({ query }: Request): number {
  const errors = Object.keys(query)
    .filter((name) => name !== 'sse_token' && name !== 'from')
    .map((name) => ({ path: `query/${name}`, message: 'is not a known parameter' }))
  const { from = '0' } = query
  if (typeof from !== 'string' || !/^\d{1,15}$/.test(from)) {
    errors.push({ path: 'query/from', message: 'must be the number of a line, from 0' })
  }
  if (errors.length > 0) throw validationProblem(errors)
  return Number(from)
}

function beginStream(response: ServerResponse): void {
  response.writeHead(200, {
    'Content-Type': 'text/event-stream; charset=utf-8',
    'Cache-Control': 'no-cache, no-store, no-transform',
    // Proxies that buffer would hold back what is live.
    'X-Accel-Buffering': 'no',
  })
  response.flushHeaders()
}

const requestContext: RequestHandler = (request, response, next) => {
  const given = request.get('x-request-id') ?? ''
  const requestId = /^[A-Za-z0-9._-]{1,128}$/.test(given) ? given : uuidv7()
  response.set('X-Request-Id', requestId)
  withContext({ request_id: requestId }, next)
}

const answerError =
  (logger: Logger): ErrorRequestHandler =>
  (error, request, response, _next) => {
    const problem = toProblem(error)
    // Without the query: it holds a token.
    if (problem.status >= 500) logger.error('a stream could not be opened', { path: request.path, error })
    if (response.headersSent) return void response.destroy()
    response.status(problem.status).json(toErrorBody(problem))
  }

function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error
  if (isConnectionError(error)) {
    return new Problem('DATABASE_CONNECTION_ERROR', 'The database cannot be reached; try again with a new token')
  }
  // What Express itself refuses: a path that is not decodable.
  if (error instanceof URIError) return notFound('The route')
  return new Problem('INTERNAL_ERROR', 'The stream could not be opened; try again with a new token')
}
