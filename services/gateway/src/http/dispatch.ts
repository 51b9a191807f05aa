import { OPERATIONS, type Operation, type OperationId } from '@slipway/contracts'
import { notFound, Problem } from '@slipway/domain'
import type { Request, Response } from 'express'
import type { CallingUser } from '../identity/calling-user.ts'
import { permit } from '../identity/permission.ts'
import { parseBody, readBody } from './body.ts'
import type { Call, Handlers, JsonHandler, StreamHandler } from './handler.ts'
import { respond } from './respond.ts'
import { matchRoute, type RouteMatch } from './routes.ts'
import { validate } from './validation.ts'

/** What is known of a request while it is handled; its log line is made from this. */
export interface Progress {
  requestId: string
  route: string | null
  caller: CallingUser | null
}

export interface DispatchOptions {
  handlers: Handlers
  authenticate(authorization: string | undefined): Promise<CallingUser>
}

/**
 * Handles one request. The checks come in this order: route, method, authentication, size, media type and form of the
 * body, permission, validation; existence and state are the handler's.
 * @throws Problem for every refusal
 */
export async function dispatch(
  { handlers, authenticate }: DispatchOptions,
  request: Request,
  response: Response,
  progress: Progress,
): Promise<void> {
  const { path, search } = splitUrl(request.url)
  const match = matchRoute(path)
  if (match === null) throw notFound('This path')
  progress.route = match.route.pattern
  const id = operationOf(match, request.method, response)
  const operation: Operation = OPERATIONS[id]

  if (operation.access === 'sse') {
    ;(handlers[id] as StreamHandler).stream(request, response)
    return
  }
  const handler = handlers[id] as JsonHandler<OperationId>
  if (operation.access !== 'public') progress.caller = await authenticate(request.headers.authorization)
  const body = operation.body === undefined ? undefined : await bodyOf(request, response, operation)
  if (progress.caller !== null) {
    permit(progress.caller, id)
    handler.authorize?.(progress.caller, body)
  }
  const query = validate(id, search, body, handler.check)
  const call = { params: match.params, query, body, caller: progress.caller, requestId: progress.requestId }
  await respond(response, await handler.handle(call as Call))
}

function operationOf({ route }: RouteMatch, method: string, response: Response): OperationId {
  const id = route.operations.get(method)
  if (id !== undefined) return id
  response.setHeader('Allow', route.allow)
  throw new Problem('METHOD_NOT_ALLOWED', `${method} is not allowed here; allowed: ${route.allow}`)
}

async function bodyOf(request: Request, response: Response, operation: Operation): Promise<unknown> {
  await new Promise<void>((resolve, reject) => {
    readBody(request, response, (error?: unknown) => (error === undefined ? resolve() : reject(error)))
  })
  return parseBody(request, { optional: operation.bodyOptional === true })
}

function splitUrl(url: string): { path: string; search: string } {
  const mark = url.indexOf('?')
  return mark === -1 ? { path: url, search: '' } : { path: url.slice(0, mark), search: url.slice(mark + 1) }
}
