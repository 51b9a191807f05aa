import { OPERATIONS, type Operation, type OperationId } from '@slipway/contracts'
import { forAllTenants, forTenant } from '@slipway/database'
import { notFound, Problem, unavailable } from '@slipway/domain'
import type { Limits } from '@slipway/limits'
import type { Logger } from '@slipway/runtime'
import type { Request, Response } from 'express'
import type { RefusalLog } from '../audit-trail/refusals.ts'
import { type AuditTrail, createAuditTrail } from '../audit-trail/trail.ts'
import type { CallingUser } from '../callers/calling-user.ts'
import { permit } from '../callers/permission.ts'
import { problemOf } from '../problems/problem-of.ts'
import { type AnswerTimes, boundsOf } from './answer-bounds.ts'
import { type ParsedBody, parseBody, parsedBody, readBody } from './body.ts'
import { bytesOf } from './bytes.ts'
import type { Answer, Call, Handlers, JsonHandler, StreamHandler } from './handler.ts'
import { respond } from './respond.ts'
import { matchRoute, type RouteMatch } from './routes.ts'
import { validate } from './validation.ts'

/** What the log line, the trace and the audit record say of a request. */
export interface RequestDetails {
  requestId: string
  route: string | null
  caller: CallingUser | null
  clientIp: string
}

const WITHOUT_DATABASE = new Set<OperationId>(['getHealth', 'getReadiness', 'getOpenApi'])

export interface DispatchOptions {
  handlers: Handlers
  /** Whether the database has been reached and prepared since the start. */
  hasDatabase(): boolean
  refusals: RefusalLog
  logger: Logger
  limits: Limits
  answerTimes: AnswerTimes
  authenticate(request: Request, clientIp: string): Promise<CallingUser>
}

/**
 * Handles one request. The order of the checks: route, method, database reached since the start, login limit, authentication,
 * size, media type and form of the body, permission, validation. The handler then checks that records exist, and their state.
 * @throws Problem for every refusal
 */
export async function dispatch(
  options: DispatchOptions,
  request: Request,
  response: Response,
  details: RequestDetails,
): Promise<void> {
  const match = matchRoute(splitUrl(request.url).path)
  if (match === null) throw notFound('This path')
  details.route = match.route.pattern
  const id = operationOf(match, request.method, response)
  const operation: Operation = OPERATIONS[id]
  if (!options.hasDatabase() && !WITHOUT_DATABASE.has(id)) {
    throw unavailable('The gateway has started and waits for its database; try again')
  }
  if (operation.limit === 'login') await options.limits.login.attempt(details.clientIp)

  if (operation.access === 'sse') {
    ;(options.handlers[id] as StreamHandler).stream(request, response)
    return
  }
  const { params } = match
  // A function, because `check` sets the caller.
  const trail = () => createAuditTrail({ ...details, operation, refusals: options.refusals, params })
  let audit: AuditTrail | undefined
  let answer: Answer
  try {
    const checked = await check(options, id, request, response, details)
    audit = trail()
    const handler = options.handlers[id] as JsonHandler<OperationId>
    const { caller, requestId, clientIp } = details
    const call = { params, ...checked, caller, requestId, clientIp, headers: request.headers, audit } as Call
    answer = await forCaller(caller, () => handler.handle(call))
    if (audit.isOwed) throw new Error(`${id} changed something without an audit record`)
  } catch (error) {
    // Awaited: the audit record is stored before the client gets the refusal.
    await (audit ?? trail()).refused(problemOf(error))
    throw error
  }
  // Large answers are read from the database while they are sent.
  await forCaller(details.caller, () => respond(response, answer))
}

/** Limits the visible rows to the tenant of the caller. Public operations, such as the login, look for any user. */
const forCaller = <T>(caller: CallingUser | null, work: () => T): T =>
  caller === null ? forAllTenants(work) : forTenant(caller.tenant_id, work)

/** Authenticates, authorizes and validates a call. */
async function check(
  { handlers, authenticate, answerTimes }: DispatchOptions,
  id: OperationId,
  request: Request,
  response: Response,
  details: RequestDetails,
): Promise<Pick<Call, 'query' | 'body' | 'bounds'>> {
  const operation: Operation = OPERATIONS[id]
  const handler = handlers[id] as JsonHandler<OperationId>
  const began = performance.now()
  if (operation.access !== 'public') details.caller = await authenticate(request, details.clientIp)
  const waited = performance.now() - began
  const parsed = await bodyOf(request, response, operation)
  if (details.caller !== null) {
    permit(details.caller, id)
    handler.authorize?.(details.caller, parsed.value)
  }
  const { headers } = request
  const query = validate(id, { search: splitUrl(request.url).search, headers, body: parsed }, handler.check)
  const bounds = boundsOf(performance.now() - waited, answerTimes)
  return { query, body: parsed.value, bounds } as Pick<Call, 'query' | 'body' | 'bounds'>
}

function operationOf({ route }: RouteMatch, method: string, response: Response): OperationId {
  const id = route.operations.get(method)
  if (id !== undefined) return id
  response.setHeader('Allow', route.allow)
  throw new Problem('METHOD_NOT_ALLOWED', `${method} is not allowed here; allowed: ${route.allow}`)
}

async function bodyOf(request: Request, response: Response, operation: Operation): Promise<ParsedBody> {
  if (operation.takesBytes) return parsedBody(bytesOf(request))
  if (operation.body === undefined) return parsedBody(undefined)
  await readBody(request, response, { isPublic: operation.access === 'public' })
  return parseBody(request, { optional: operation.bodyOptional === true })
}

function splitUrl(url: string): { path: string; search: string } {
  const mark = url.indexOf('?')
  return mark === -1 ? { path: url, search: '' } : { path: url.slice(0, mark), search: url.slice(mark + 1) }
}
