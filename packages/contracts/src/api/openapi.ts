import type { TSchema } from '@sinclair/typebox'
import { ErrorBody } from './common.ts'
import { OPERATIONS, type Operation } from './operations.ts'

const ERRORS: Record<number, string> = {
  400: 'The request is malformed or invalid',
  401: 'The credential is missing, malformed, wrong or expired',
  403: 'The credential does not permit this',
  404: 'Not found',
  409: 'Conflicts with the present state',
  429: 'Too many requests',
  500: 'Something failed in the server',
  503: 'A dependency cannot be reached; try again',
}

const pathParameters = (path: string) =>
  [...path.matchAll(/\{(\w+)\}/g)].map((match) => ({
    name: match[1],
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))

const queryParameters = (operation: Operation) =>
  Object.entries(operation.query?.properties ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    required: false,
    schema,
  }))

function responseOf(schema: TSchema | string | null) {
  if (schema === null) return { description: 'Done; the body is empty' }
  if (typeof schema === 'string')
    return { description: 'A stream', content: { [schema]: { schema: { type: 'string' } } } }
  return { description: 'Done', content: { 'application/json': { schema } } }
}

function errorsOf(operation: Operation): number[] {
  const statuses = [429, 500, 503]
  if (operation.body !== undefined || operation.query !== undefined) statuses.push(400)
  if (operation.access !== 'public') statuses.push(401, 403)
  if (operation.path.includes('{')) statuses.push(404)
  if (operation.method !== 'GET') statuses.push(404, 409)
  return [...new Set(statuses)].sort()
}

function operationObject(id: string, operation: Operation) {
  const responses: Record<string, unknown> = {}
  for (const [status, schema] of Object.entries(operation.responses)) responses[status] = responseOf(schema)
  for (const status of errorsOf(operation)) {
    responses[status] ??= {
      description: ERRORS[status],
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
    }
  }
  return {
    operationId: id,
    summary: operation.summary,
    tags: [operation.tag],
    security: operation.access === 'public' ? [] : [{ [operation.access === 'sse' ? 'sseToken' : 'bearer']: [] }],
    ...(operation.access.includes(':') ? { 'x-permission': operation.access } : {}),
    ...(operation.audit === undefined ? {} : { 'x-audit-action': operation.audit }),
    parameters: [...pathParameters(operation.path), ...queryParameters(operation)],
    ...(operation.body === undefined
      ? {}
      : {
          requestBody: {
            required: operation.bodyOptional !== true,
            content: { 'application/json': { schema: operation.body } },
          },
        }),
    responses,
  }
}

/** The OpenAPI 3.1 document of the whole API, made from the table of operations. */
export function openApiDocument(serverVersion: string): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const [id, operation] of Object.entries(OPERATIONS) as [string, Operation][]) {
    const path = `/api/v1${operation.path}`
    paths[path] ??= {}
    paths[path][operation.method.toLowerCase()] = operationObject(id, operation)
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Slipway',
      version: serverVersion,
      description: 'Create, watch and control deployments of versioned sources on targets.',
    },
    paths,
    components: {
      schemas: { Error: ErrorBody },
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'An access token or an API key' },
        sseToken: { type: 'apiKey', in: 'query', name: 'sse_token', description: 'From POST /api/v1/auth/sse-token' },
      },
    },
  }
}
