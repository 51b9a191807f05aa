import {
  AgentEnrolRequest,
  AgentHeartbeatRequest,
  compile,
  EventBatch,
  JoinRequest,
  PartialLines,
  SyncRequest,
  type TSchema,
} from '@slipway/contracts'
import { isUnavailable } from '@slipway/database'
import { isUuid } from '@slipway/domain'
import { FairSemaphore, LineFull, takeRequestId, withContext } from '@slipway/runtime'
import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
  type Response,
} from 'express'
import { authenticateAgent } from '../agents/credentials.ts'
import { enrolAgent } from '../agents/enrol.ts'
import { agentHeartbeat } from '../agents/heartbeat.ts'
import type { Bridge } from '../bridge.ts'
import { invalid, Refusal } from '../callers/refusal.ts'
import { serveContent } from '../content/serve.ts'
import { applyBatch } from '../events/apply.ts'
import { passOnPartialLines } from '../events/partial-lines.ts'
import { authenticateInstance, rotateCredential } from '../instances/credentials.ts'
import { join } from '../instances/join.ts'
import { createRefusedJoins, type JoinCaller } from '../instances/join-audit.ts'
import { sync } from '../instances/sync.ts'
import { type Ticket, ticketOf } from '../instances/tickets.ts'
import { fetchSpec } from '../runs/start.ts'

const BATCH_LIMIT = 8 * 1024 * 1024
const JOIN_LIMIT = 256 * 1024
/** Each batch uses a connection to Postgres. Without this limit, the batches of one instance delay those of all others. */
const BATCHES_OF_INSTANCE = { limit: Number.POSITIVE_INFINITY, perKey: 4, maxWaiting: 1_000 }
/** A blank, which JSON allows before a value, shows the instance that the connection of a waiting sync lives. */
const PULSE_MS = 1_000
/** The body is read before the token is verified, so it may come from a stranger and must be small. */
const AGENT_BODY_LIMIT = 4 * 1024

/**
 * The API for orchestration instances and agents. The caller is authenticated before a large body is read. `stopping` ends
 * waiting syncs.
 */
export function createApp(bridge: Bridge, stopping: AbortSignal): Express {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.use(requestContext)

  const joinBody = checked(JoinRequest)
  app.post(
    '/v1/instances',
    asJoiner(bridge),
    json(JOIN_LIMIT),
    async (request: Request, response: Response) => {
      const ticket: Ticket = response.locals['ticket']
      response.status(201).json(await join(bridge, ticket, joinBody(request.body), joinCaller(request, response)))
    },
    recordRefusedJoin(bridge),
  )

  app.post('/v1/instances/credential', asInstance(bridge), async (_request, response) => {
    response.json(await rotateCredential(bridge, instanceOf(response)))
  })

  const syncBody = checked(SyncRequest)
  app.post('/v1/sync', asInstance(bridge), json(BATCH_LIMIT), async (request, response) => {
    const body = syncBody(request.body)
    const over = new AbortController()
    const end = () => over.abort()
    // Not AbortSignal.timeout: in Node 20 a garbage collection takes it out of AbortSignal.any, and the sync never ends.
    const timer = setTimeout(end, body.wait_seconds * 1_000)
    stopping.addEventListener('abort', end, { once: true })
    let pulse: NodeJS.Timeout | undefined
    response.on('close', () => {
      clearTimeout(timer)
      clearInterval(pulse)
      stopping.removeEventListener('abort', end)
      end()
    })
    const answer = await sync(bridge, instanceOf(response), body, {
      onHeartbeat() {
        // A proxy must not hold the blanks back.
        response.status(200).type('json').set('X-Accel-Buffering', 'no').flushHeaders()
        pulse = setInterval(() => response.write(' '), PULSE_MS)
      },
      over: over.signal,
    })
    clearInterval(pulse)
    response.end(JSON.stringify(answer))
  })

  app.get('/v1/runs/:id/spec', asInstance(bridge), async (request, response) => {
    const deployment_id = String(request.params['id'])
    const epoch = Number(request.query['epoch'])
    if (!isUuid(deployment_id) || !Number.isSafeInteger(epoch))
      throw new Refusal(404, 'NOT_FOUND', 'There is no such run')
    response.json(await fetchSpec(bridge, instanceOf(response), { deployment_id, epoch }))
  })

  const inTurn = takeTurns(new FairSemaphore(BATCHES_OF_INSTANCE), json(BATCH_LIMIT))
  const batchBody = checked(EventBatch)
  const events = inTurn(async (request, response) => {
    const deploymentId = String(request.params['id'])
    if (!isUuid(deploymentId)) throw new Refusal(404, 'NOT_FOUND', 'There is no such run')
    const batch = batchBody(request.body)
    const next_event = await applyBatch(bridge, instanceOf(response), deploymentId, batch)
    response.json({ next_event })
  })
  app.post('/v1/runs/:id/events', asInstance(bridge), events)

  const partialLinesBody = checked(PartialLines)
  const partialLines = inTurn(async (request, response) => {
    const deploymentId = String(request.params['id'])
    if (!isUuid(deploymentId)) throw new Refusal(404, 'NOT_FOUND', 'There is no such run')
    await passOnPartialLines(bridge, instanceOf(response), deploymentId, partialLinesBody(request.body))
    response.status(200).json({})
  })
  app.post('/v1/runs/:id/partial-lines', asInstance(bridge), partialLines)

  app.get('/v1/content/:sha256', asInstance(bridge), async (request, response) => {
    await serveContent(bridge, instanceOf(response), String(request.params['sha256']), response)
  })

  const agentBody = checked(AgentEnrolRequest)
  app.post('/v1/agents', json(AGENT_BODY_LIMIT), async (request, response) => {
    response.status(201).json(await enrolAgent(bridge, bearer(request), agentBody(request.body)))
  })

  const agentHeartbeatBody = checked(AgentHeartbeatRequest)
  app.post('/v1/agents/:id/heartbeat', asAgent(bridge), json(AGENT_BODY_LIMIT), async (request, response) => {
    const agentId = String(response.locals['agentId'])
    if (request.params['id'] !== agentId) throw new Refusal(403, 'FORBIDDEN', 'The credential is of another agent')
    response.json(await agentHeartbeat(bridge, agentId, agentHeartbeatBody(request.body)))
  })

  app.use((request) => {
    throw new Refusal(404, 'NOT_FOUND', `There is no ${request.method} ${request.path}`)
  })
  app.use(answerError(bridge))
  return app
}

const json = (limit: number): RequestHandler => express.json({ limit, type: () => true, strict: false })

/**
 * Limits how many calls of an instance are handled at a time. A call waits for its turn before its body is read, so that waiting
 * calls need little memory. It keeps its place until it is handled, even if the instance has closed the connection.
 */
function takeTurns(turns: FairSemaphore, readBody: RequestHandler) {
  return (handle: (request: Request, response: Response) => Promise<void>): RequestHandler =>
    async (request, response) => {
      const task = async () => {
        if (response.destroyed) return
        await new Promise<void>((resolve, reject) => {
          void readBody(request, response, (error?: unknown) => (error === undefined ? resolve() : reject(error)))
        })
        await handle(request, response)
      }
      await turns.run(instanceOf(response), task).catch((error) => {
        if (!(error instanceof LineFull)) throw error
        response.set('Retry-After', '1')
        throw new Refusal(503, 'SERVICE_UNAVAILABLE', 'Too many calls of this instance wait: send fewer at a time')
      })
    }
}

/** Returns a function that validates bodies by this schema. The schema is compiled once. */
function checked<T extends TSchema>(schema: T): (body: unknown) => T['static'] {
  const problemsOf = compile(schema)
  return (body) => {
    const problems = problemsOf(body)
    // Otherwise the answer to a wrong batch could be as large as the batch.
    if (problems.length > 0) throw invalid('The body is not valid, see details.errors', problems.slice(0, 20))
    return body as T['static']
  }
}

function bearer(request: Request): string | undefined {
  return /^Bearer ([^\s]+)$/.exec(request.headers.authorization ?? '')?.[1]
}

const asJoiner =
  (bridge: Bridge): RequestHandler =>
  async (request, response, next) => {
    response.locals['ticket'] = await ticketOf(bridge, bearer(request))
    next()
  }

const joinCaller = (request: Request, response: Response): JoinCaller => ({
  ip: request.socket.remoteAddress ?? null,
  request_id: response.get('X-Request-Id') ?? null,
})

function recordRefusedJoin(bridge: Bridge): ErrorRequestHandler {
  const refusedJoins = createRefusedJoins(bridge)
  return async (error, request, response, next) => {
    await refusedJoins.record(error, response.locals['ticket'], request.body, joinCaller(request, response))
    next(error)
  }
}

const asInstance =
  (bridge: Bridge): RequestHandler =>
  async (request, response, next) => {
    response.locals['instanceId'] = await authenticateInstance(bridge, bearer(request))
    next()
  }

const asAgent =
  (bridge: Bridge): RequestHandler =>
  async (request, response, next) => {
    response.locals['agentId'] = await authenticateAgent(bridge, bearer(request))
    next()
  }

const instanceOf = (response: Response): string => String(response.locals['instanceId'])

const requestContext: RequestHandler = (request, response, next) => {
  withContext({ request_id: takeRequestId(request, response) }, next)
}

const answerError =
  ({ logger }: Bridge): ErrorRequestHandler =>
  (error, request, response, _next) => {
    const refusal = toRefusal(error)
    const fields = {
      method: request.method,
      path: request.path,
      status: refusal.status,
      instance_id: response.locals['instanceId'],
      agent_id: response.locals['agentId'],
    }
    if (refusal.status >= 500) logger.error('a call failed', { ...fields, error })
    else logger.warn('a call was refused', { ...fields, code: refusal.code, reason: refusal.message })
    if (response.headersSent) return void response.destroy()
    const { code, message, details } = refusal
    response
      .status(refusal.status)
      .json({ error: details === undefined ? { code, message } : { code, message, details } })
  }

function toRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  if (isUnavailable(error)) return new Refusal(503, 'SERVICE_UNAVAILABLE', 'The database cannot be used now; try again')
  const { type } = (error ?? {}) as { type?: unknown }
  if (type === 'entity.too.large')
    return new Refusal(413, 'PAYLOAD_TOO_LARGE', 'The body is too large: send smaller batches')
  if (type === 'entity.parse.failed') return new Refusal(400, 'INVALID_BODY', 'The body is not valid JSON')
  if (typeof type === 'string' && /^(request|encoding|charset|entity)\./.test(type)) {
    return new Refusal(400, 'INVALID_BODY', 'The body could not be read')
  }
  return new Refusal(500, 'INTERNAL_ERROR', 'The call could not be handled; try again')
}
