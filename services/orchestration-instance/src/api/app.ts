import {
  compile,
  MAX_BATCH_EVENTS,
  ProbeRequest,
  type ProbeResponse,
  RunSpec,
  type StopResponse,
} from '@slipway/contracts'
import type { Logger } from '@slipway/runtime'
import { constantTimeEqual } from '@slipway/runtime'
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express'
import { readEvents } from '../journal/read-journal.ts'
import type { Runs } from '../runs/runs.ts'
import { readNumber, StopRequest } from './requests.ts'

const BODY_LIMIT = '64mb'
/** Every target with the longest key there may be. */
const PROBE_LIMIT = '16mb'

const checkSpec = compile(RunSpec)
const checkStop = compile(StopRequest)
const checkProbe = compile(ProbeRequest)

export interface ApiOptions {
  runs: Runs
  callbackToken: string
  probe(targets: ProbeRequest['targets']): Promise<ProbeResponse>
  /** What GET /v1/status says of the instance itself. */
  about(): Record<string, unknown>
  logger: Logger
}

/** What the executor-bridge calls. Errors have the form `{ error: { code, message } }`. */
export function createApi({ runs, callbackToken, probe, about, logger }: ApiOptions): Express {
  const app = express()
  app.disable('x-powered-by')
  app.use(authenticated(callbackToken))

  app.post('/v1/runs', express.json({ limit: BODY_LIMIT }), async (request, response) => {
    const problems = checkSpec(request.body)
    // The specification holds secrets: only where it is wrong is told, never what stands there.
    if (problems.length > 0) {
      throw new ApiError(400, 'VALIDATION_ERROR', problems.map(({ path, message }) => `${path} ${message}`).join('; '))
    }
    const outcome = await runs.accept(request.body as RunSpec)
    if (outcome === 'stale') throw new ApiError(409, 'CONFLICT', 'A newer epoch of this deployment is known here')
    response.status(202).json({ accepted: true })
  })

  app.post('/v1/runs/:id/stop', express.json({ limit: '64kb' }), async (request, response) => {
    const problem = checkStop(request.body)[0]
    if (problem) throw new ApiError(400, 'VALIDATION_ERROR', `${problem.path} ${problem.message}`)
    const { epoch, reason } = request.body as StopRequest
    const { stopped, ending } = runs.stop({ deployment_id: request.params['id'] as string, epoch }, reason)
    // It is accepted; what it came to follows when that is known.
    response.status(202).type('json').flushHeaders()
    const unconfirmed = (await ending)?.map(({ target, action }): [number, number] => [target, action]) ?? null
    response.end(JSON.stringify({ stopped, unconfirmed } satisfies StopResponse))
  })

  app.post('/v1/probes', express.json({ limit: PROBE_LIMIT }), async (request, response) => {
    const [problem] = checkProbe(request.body)
    if (problem) throw new ApiError(400, 'VALIDATION_ERROR', `${problem.path} ${problem.message}`)
    response.json(await probe((request.body as ProbeRequest).targets))
  })

  app.get('/v1/runs/:id/events', async (request, response) => {
    const from = readNumber(request.query['from'])
    if (from === null) throw new ApiError(400, 'VALIDATION_ERROR', 'query/from must be a number from 0')
    const journal = runs.journalOf(request.params['id'])
    if (!journal) throw new ApiError(404, 'NOT_FOUND', 'No such run is held here')
    const events = (await readEvents(journal.file, from, MAX_BATCH_EVENTS)).map(({ event }) => event)
    response.json({ epoch: journal.epoch, first_event: from, next_event: from + events.length, events })
  })

  app.get('/v1/status', (_request, response) => {
    response.json({ ...about(), runs: runs.status() })
  })

  app.use(() => {
    throw new ApiError(404, 'NOT_FOUND', 'There is no such path')
  })
  app.use(answerErrors(logger))
  return app
}

class ApiError extends Error {
  readonly status: number
  readonly code: string

  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

function authenticated(callbackToken: string): RequestHandler {
  return (request, _response, next) => {
    const given = /^Bearer (.+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? ''
    if (!constantTimeEqual(given, callbackToken)) {
      throw new ApiError(401, 'UNAUTHORIZED', 'Show the callback token of the enrolment')
    }
    next()
  }
}

function answerErrors(logger: Logger): ErrorRequestHandler {
  // Express knows an error handler by its four parameters.
  return (error, _request, response, _next) => {
    const status = error instanceof ApiError ? error.status : bodyStatus(error)
    if (status >= 500) logger.error('a call of the bridge failed', { error })
    const code = error instanceof ApiError ? error.code : status >= 500 ? 'INTERNAL_ERROR' : 'INVALID_BODY'
    const message =
      error instanceof ApiError ? error.message : status >= 500 ? 'It failed here' : 'The body cannot be read'
    response.status(status).json({ error: { code, message } })
  }
}

/** The body parser's errors carry their status; anything else is our own fault. */
function bodyStatus(error: unknown): number {
  const { status, expose } = (error ?? {}) as { status?: unknown; expose?: unknown }
  return typeof status === 'number' && expose === true && status >= 400 && status < 500 ? status : 500
}
