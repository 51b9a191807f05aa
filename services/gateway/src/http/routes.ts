import { MAX_CONTENT_BYTES, OPERATIONS, type Operation, type OperationId } from '@slipway/contracts'
import { forAllTenants, forTenant } from '@slipway/database'
import { authRateLimited, unavailable } from '@slipway/domain'
import { type Answer, bytesOf, type HttpCall, type JsonBody, type Route, readJson, sendAnswer } from '@slipway/http'
import type { Limits } from '@slipway/http/limits'
import { type AuditTrail, createAuditTrail, type RefusalLog } from '../audit-trail.ts'
import type { CallingUser } from '../callers/calling-user.ts'
import {
  type AnswerTimes,
  boundsOf,
  type Call,
  type Handlers,
  type JsonHandler,
  type StreamHandler,
} from '../handler.ts'
import { problemOf } from '../problems.ts'
import { admit } from './admission.ts'
import { tagged } from './entity-tag.ts'

const API_PREFIX = '/api/v1'

const PROBES = new Set<OperationId>(['getHealth', 'getReadiness'])
const WITHOUT_DATABASE = new Set<OperationId>(['getHealth', 'getReadiness', 'getOpenApi'])

/** Callers without an account get little work done. A request with 10,000 targets and 1,000 variables has far fewer values. */
const PUBLIC_BODY = { bytes: 16 * 1024, values: 50_000, nesting: 32 }
const BODY = { ...PUBLIC_BODY, bytes: 1024 * 1024 }
/** For a body with the bodies of other calls, which are three levels down in it. */
const bodyOfBodies = (bytes: number) => ({
  bytes,
  values: (bytes / BODY.bytes) * BODY.values,
  nesting: BODY.nesting + 3,
})

export interface RouteOptions {
  handlers: Handlers
  /** Whether the database has been reached and prepared since the start. */
  hasDatabase(): boolean
  refusals: RefusalLog
  limits: Limits
  answerTimes: AnswerTimes
  authenticate(authorization: string | undefined, clientIp: string): Promise<CallingUser>
}

/** The routes of the operations of the API. */
export function createRoutes(options: RouteOptions): Route[] {
  return (Object.entries(OPERATIONS) as [OperationId, Operation][]).map(([id, { method, path, access }]) => ({
    method,
    path: API_PREFIX + path,
    isStream: access === 'sse',
    isPolled: PROBES.has(id),
    handle: (call) => answer(options, id, call),
  }))
}

/**
 * Answers a call. The order of the checks: route, method, database reached since the start, login limit, authentication, size,
 * media type and form of the body, permission, validation. The handler then checks that records exist, and their state.
 * @throws Problem for every refusal
 */
async function answer(options: RouteOptions, id: OperationId, call: HttpCall): Promise<null> {
  const operation: Operation = OPERATIONS[id]
  const { params, requestId, clientIp } = call
  if (!options.hasDatabase() && !WITHOUT_DATABASE.has(id)) {
    throw unavailable('The gateway has started and waits for its database; try again')
  }
  await requireRate(options.limits, operation, clientIp)

  if (operation.access === 'sse') {
    ;(options.handlers[id] as StreamHandler).stream(call)
    return null
  }
  let caller: CallingUser | null = null
  let audit: AuditTrail | undefined
  // A function, because authentication sets the caller.
  const trail = () => createAuditTrail({ operation, refusals: options.refusals, caller, clientIp, requestId, params })
  let found: Answer
  try {
    const began = performance.now()
    if (operation.access !== 'public') caller = await authenticated(options, call)
    const waited = performance.now() - began
    const handler = options.handlers[id] as JsonHandler<OperationId>
    const checked = await check(id, handler, call, caller)
    const bounds = boundsOf(performance.now() - waited, options.answerTimes)
    const { headers } = call.request
    audit = trail()
    const valid = { params, ...checked, bounds, caller, requestId, clientIp, headers, audit } as Call
    found = await forCaller(caller, () => handler.handle(valid))
    if (audit.isOwed) throw new Error(`${id} changed something without an audit record`)
  } catch (error) {
    const refusal = await counted(options.limits, operation, clientIp, error)
    // Awaited: the audit record is stored before the client gets the refusal.
    await (audit ?? trail()).refused(problemOf(refusal))
    throw refusal
  }
  const sent = operation.method === 'GET' ? tagged(found, call.request.headers['if-none-match']) : found
  // Large answers are read from the database while they are sent.
  await forCaller(caller, () => sendAnswer(call.response, sent))
  return null
}

/** @throws Problem AUTH_RATE_LIMIT_EXCEEDED, SERVICE_UNAVAILABLE */
async function requireRate(limits: Limits, { limit }: Operation, clientIp: string): Promise<void> {
  if (limit === 'login') await limits.login.attempt(clientIp)
  if (limit === 'exchange') await limits.exchange.check(clientIp)
  if (limit !== 'provider_login' || (await limits.providerLogin.admits(clientIp))) return
  throw authRateLimited(1, 'Too many logins with a provider from this address')
}

const TOO_MANY_REQUESTS = 429
const SERVER_ERROR = 500

/** Counts a refusal, and returns it, or the refusal because of too many refusals. */
async function counted(limits: Limits, { limit }: Operation, clientIp: string, error: unknown): Promise<unknown> {
  const { status } = problemOf(error)
  if (limit !== 'exchange' || status === TOO_MANY_REQUESTS || status >= SERVER_ERROR) return error
  return limits.exchange.countFailure(clientIp).then(
    () => error,
    (problem: unknown) => problem,
  )
}

/** Limits the visible rows to the tenant of the caller. Public operations, such as the login, look for any user. */
const forCaller = <T>(caller: CallingUser | null, work: () => T): T =>
  caller === null ? forAllTenants(work) : forTenant(caller.tenant_id, work)

async function authenticated(
  { authenticate }: RouteOptions,
  { request, clientIp, log }: HttpCall,
): Promise<CallingUser> {
  const caller = await authenticate(request.headers.authorization, clientIp)
  const { user_id, username, tenant_id } = caller
  Object.assign(log, { user_id, username, tenant_id })
  return caller
}

/** Authorizes and validates a call. */
async function check(
  id: OperationId,
  handler: JsonHandler<OperationId>,
  call: HttpCall,
  caller: CallingUser | null,
): Promise<{ query: Record<string, string>; body: unknown }> {
  const body = await bodyOf(call, OPERATIONS[id])
  const { headers } = call.request
  return { query: admit(id, handler, caller, { search: call.search, headers, body }), body: body.value }
}

async function bodyOf({ request }: HttpCall, operation: Operation): Promise<JsonBody> {
  if (operation.takesBytes) return { value: bytesOf(request, MAX_CONTENT_BYTES), text: '' }
  if (operation.body === undefined) return { value: undefined, text: '' }
  const { access, bodyOptional = false, takesForm = false, maxBodyBytes } = operation
  const bounds = access === 'public' ? PUBLIC_BODY : maxBodyBytes === undefined ? BODY : bodyOfBodies(maxBodyBytes)
  return readJson(request, bounds, { optional: bodyOptional, form: takesForm })
}
