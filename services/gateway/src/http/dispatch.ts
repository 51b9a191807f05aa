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
import { parseBody, readBody } from './body.ts'
import { bytesOf } from './bytes.ts'
import type { Answer, Call, Handlers, JsonHandler, StreamHandler } from './handler.ts'
import { respond } from './respond.ts'
import { matchRoute, type RouteMatch } from './routes.ts'
import { validate } from './validation.ts'

/** What is known of a request while it is handled; its log line is made from this. */
export interface Progress {
  requestId: string
  route: string | null
  caller: CallingUser | null
  clientIp: string
}

/** Answered without the database. */
const WITHOUT_DATABASE = new Set<OperationId>(['getHealth', 'getReadiness', 'getOpenApi'])

export interface DispatchOptions {
  handlers: Handlers
  /** Whether the database has been reached and prepared since the start. */
  hasDatabase(): boolean
  refusals: RefusalLog
  logger: Logger
  limits: Limits
  authenticate(request: Request, clientIp: string): Promise<CallingUser>
}

/**
 * Handles one request. The checks come in this order: route, method, whether the database has been reached since the start,
 * limit on logins, authentication, size, media type and form of the body, permission, validation; existence and state are
 * the handler's.
 * @throws Problem for every refusal
 */
export async function dispatch(
  options: DispatchOptions,
  request: Request,
  response: Response,
  progress: Progress,
): Promise<void> {
  const match = matchRoute(splitUrl(request.url).path)
  if (match === null) throw notFound('This path')
  progress.route = match.route.pattern
  const id = operationOf(match, request.method, response)
  const operation: Operation = OPERATIONS[id]
  if (!options.hasDatabase() && !WITHOUT_DATABASE.has(id)) {
    throw unavailable('The gateway has started and waits for its database; try again')
  }
  if (operation.limit === 'login') await options.limits.login.attempt(progress.clientIp)

  if (operation.access === 'sse') {
    ;(options.handlers[id] as StreamHandler).stream(request, response)
    return
  }
  const { params } = match
  // Read through `progress`: the caller is known only once authenticated.
  const trail = () => createAuditTrail({ ...progress, operation, refusals: options.refusals, params })
  let audit: AuditTrail | undefined
  let answer: Answer
  try {
    const checked = await check(options, id, request, response, progress)
    audit = trail()
    const handler = options.handlers[id] as JsonHandler<OperationId>
    const { caller, requestId, clientIp } = progress
    const call = { params, ...checked, caller, requestId, clientIp, headers: request.headers, audit } as Call
    answer = await forCaller(caller, () => handler.handle(call))
    if (audit.owed) throw new Error(`${id} changed something without an audit record`)
  } catch (error) {
    // Before the answer, so that whoever was refused has left a record.
    await (audit ?? trail()).refused(problemOf(error))
    throw error
  }
  // Large answers are read from the database while they are sent.
  await forCaller(progress.caller, () => respond(response, answer))
}

/** A call sees what its caller's tenant may; one that is open to anybody has to find out who calls. */
const forCaller = <T>(caller: CallingUser | null, work: () => T): T =>
  caller === null ? forAllTenants(work) : forTenant(caller.tenant_id, work)

/** Everything that is checked before a handler is asked; returns the valid query and body. */
async function check(
  { handlers, authenticate }: DispatchOptions,
  id: OperationId,
  request: Request,
  response: Response,
  progress: Progress,
): Promise<Pick<Call, 'query' | 'body'>> {
  const operation: Operation = OPERATIONS[id]
  const handler = handlers[id] as JsonHandler<OperationId>
  if (operation.access !== 'public') progress.caller = await authenticate(request, progress.clientIp)
  const body = await bodyOf(request, response, operation)
  if (progress.caller !== null) {
    permit(progress.caller, id)
    handler.authorize?.(progress.caller, body)
  }
  const { headers } = request
  const query = validate(id, { search: splitUrl(request.url).search, headers, body }, handler.check)
  return { query, body } as Pick<Call, 'query' | 'body'>
}

function operationOf({ route }: RouteMatch, method: string, response: Response): OperationId {
  const id = route.operations.get(method)
  if (id !== undefined) return id
  response.setHeader('Allow', route.allow)
  throw new Problem('METHOD_NOT_ALLOWED', `${method} is not allowed here; allowed: ${route.allow}`)
}

async function bodyOf(request: Request, response: Response, operation: Operation): Promise<unknown> {
  if (operation.takesBytes) return bytesOf(request)
  if (operation.body === undefined) return undefined
  await new Promise<void>((resolve, reject) => {
    readBody(request, response, (error?: unknown) => (error === undefined ? resolve() : reject(error)))
  })
  return parseBody(request, { optional: operation.bodyOptional === true })
}

function splitUrl(url: string): { path: string; search: string } {
  const mark = url.indexOf('?')
  return mark === -1 ? { path: url, search: '' } : { path: url.slice(0, mark), search: url.slice(mark + 1) }
}
