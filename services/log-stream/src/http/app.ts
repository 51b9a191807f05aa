import type { ServerResponse } from 'node:http'
import type { Permission } from '@slipway/contracts'
import { type Database, isConnectionError } from '@slipway/database'
import { type FieldError, isUuid, notFound, Problem, toErrorBody, validationProblem } from '@slipway/domain'
import { type KeyRing, type Logger, takeRequestId, withContext } from '@slipway/runtime'
import type { Redis } from '@slipway/runtime/redis'
import express, { type ErrorRequestHandler, type Express, type Request, type RequestHandler } from 'express'
import { isStreamResource, RESOURCES } from '../changes/change.ts'
import type { ChangeStreams } from '../changes/change-streams.ts'
import { findVisible } from '../deployments/deployments.sql.ts'
import { whenClosed } from '../streams/closed.ts'
import type { Hubs } from '../streams/hubs.ts'
import { countStream } from '../streams/metrics.ts'
import { StreamClient, type StreamClientLimits } from '../streams/stream-client.ts'
import type { StreamGuard } from '../tokens/guard.ts'
import { type RedeemedToken, redeemToken, requirePermission } from '../tokens/redeem.ts'
import type { PresentRights } from '../tokens/rights.ts'
import { limitRate, type RateLimit } from './rate-limit.ts'

interface LogStream {
  database: Database
  redis: Redis
  keys: KeyRing
  namespace: string
  logger: Logger
  hubs: Hubs
  changeStreams: ChangeStreams
  guard: StreamGuard
  limits: StreamClientLimits
  rateLimit: RateLimit
}

const LOGS = 'deployments:read'

/** The streams, which clients reach through the gateway. The token in the query is the only authentication. */
export function createApp(stream: LogStream): Express {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.use(requestContext)
  app.use(limitRate(stream.rateLimit, stream.logger))

  app
    .route('/api/v1/deployments/:id/logs')
    .all(getOnly)
    .get(async (request, response) => {
      const holder = await redeemToken(stream, request.query['sse_token'])
      requirePermission(holder.rights, LOGS)
      const from = fromParameter(request)
      const id = await visibleDeployment(stream, holder.rights, String(request.params['id']))
      keepWhilePermitted(stream, holder, LOGS, response)
      const { record } = holder
      await stream.hubs.use(id, async (hub, watch) => {
        const { logger, limits } = stream
        logger.info('a log stream was opened', { deployment_id: id, user_id: record.user_id, from })
        beginStream(response, 'log')
        await watch(new StreamClient(hub, response, { logger, limits, from }))
      })
    })

  app
    .route('/api/v1/sse/:resource')
    .all(getOnly)
    .get(async (request, response) => {
      const resource = String(request.params['resource'])
      const redeemed = redeemToken(stream, request.query['sse_token'])
      if (!isStreamResource(resource)) {
        // The token is used up in any case.
        await redeemed.catch(() => {})
        throw notFound('The stream')
      }
      const holder = await redeemed
      const { permission } = RESOURCES[resource]
      requirePermission(holder.rights, permission)
      refuseUnknown(request, [])
      keepWhilePermitted(stream, holder, permission, response)
      const { tenant_id } = holder.rights
      await stream.changeStreams.listen(resource, tenant_id, response, () => {
        stream.logger.info('a change stream was opened', {
          resource_type: resource,
          user_id: holder.record.user_id,
        })
        beginStream(response, 'changes')
      })
    })

  app.use(() => {
    throw notFound('The route')
  })
  app.use(answerError(stream.logger))
  return app
}

const getOnly: RequestHandler = (request, response, next) => {
  // A HEAD request would use up a token for a stream without content.
  if (request.method === 'GET') return next()
  response.set('Allow', 'GET')
  throw new Problem('METHOD_NOT_ALLOWED', 'Streams support only GET')
}

/** Ends the stream when its user may no longer read it, or sees other records. */
function keepWhilePermitted(
  { guard }: LogStream,
  holder: RedeemedToken,
  permission: Permission,
  response: ServerResponse,
): void {
  const letGo = guard.keep(
    holder,
    (now) => now.permissions.includes(permission) && now.tenant_id === holder.rights.tenant_id,
    () => response.destroy(),
  )
  whenClosed(response, letGo)
}

async function visibleDeployment({ database }: LogStream, rights: PresentRights, id: string): Promise<string> {
  const found = isUuid(id) ? await findVisible.first(database, { id, tenant_id: rights.tenant_id }) : null
  if (!found) throw notFound('The deployment')
  return found.id
}

function fromParameter(request: Request): number {
  const { from = '0' } = request.query
  const isNumber = typeof from === 'string' && /^\d{1,15}$/.test(from)
  refuseUnknown(
    request,
    ['from'],
    isNumber ? [] : [{ path: 'query/from', message: 'must be the number of a line, from 0' }],
  )
  return Number(from)
}

function refuseUnknown({ query }: Request, known: string[], problems: FieldError[] = []): void {
  const unknown = Object.keys(query)
    .filter((name) => name !== 'sse_token' && !known.includes(name))
    .map((name) => ({ path: `query/${name}`, message: 'is not a known parameter' }))
  if (unknown.length + problems.length > 0) throw validationProblem([...unknown, ...problems])
}

function beginStream(response: ServerResponse, kind: 'log' | 'changes'): void {
  countStream(kind, response)
  response.writeHead(200, {
    'Content-Type': 'text/event-stream; charset=utf-8',
    'Cache-Control': 'no-cache, no-store, no-transform',
    // Proxies that buffer would delay live data.
    'X-Accel-Buffering': 'no',
  })
  response.flushHeaders()
}

const requestContext: RequestHandler = (request, response, next) => {
  withContext({ request_id: takeRequestId(request, response) }, next)
}

const answerError =
  (logger: Logger): ErrorRequestHandler =>
  (error, request, response, _next) => {
    const problem = toProblem(error)
    // Without the query, because it contains a token.
    const { path } = request
    if (error instanceof Problem || problem.status < 500)
      logger.info('a stream was refused', { path, status: problem.status, code: problem.code })
    else logger.error('a stream could not be opened', { path, error })
    if (response.headersSent) return void response.destroy()
    response.status(problem.status).json(toErrorBody(problem))
  }

function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error
  if (isConnectionError(error)) {
    return new Problem('DATABASE_CONNECTION_ERROR', 'The database cannot be reached; try again with a new token')
  }
  // Express refuses a path that it cannot decode.
  if (error instanceof URIError) return notFound('The route')
  return new Problem('INTERNAL_ERROR', 'The stream could not be opened; try again with a new token')
}
