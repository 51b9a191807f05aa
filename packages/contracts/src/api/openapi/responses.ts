import type { TSchema } from '@sinclair/typebox'
import { ERROR_CODES, type ErrorCode } from '@slipway/domain'
import type { Operation } from '../operations/operation.ts'
import type { Components } from './components.ts'
import { exampleOf } from './example-of.ts'
import { errorCodesOf, isProbe } from './refusals.ts'

const REASONS: Record<number, string> = {
  400: 'The request is malformed or not valid',
  401: 'The credential is missing, malformed, wrong, expired or revoked',
  403: 'The credential does not permit this',
  404: 'The record, or one that the body names, does not exist or belongs to another tenant',
  409: 'Conflicts with the present state',
  413: 'The body is larger than 1 MiB or, for content, than 1 GiB or the quota; or the plan is too large',
  415: 'The body is not application/json, or content has a Content-Encoding',
  500: 'Something failed in the server',
  503: 'A part of the service cannot be reached or is too busy; try again',
}

const header = (description: string, schema: object) => ({ description, schema })

export const HEADERS = {
  RequestId: header(
    'The id of the request: the sent one, if any. All log lines and records of the request contain it',
    {
      type: 'string',
    },
  ),
  RetryAfter: header('Seconds after which to try again', { type: 'integer' }),
  RateLimitRemaining: header('Always 0 if present', { type: 'integer' }),
  Allow: header('The methods of the path', { type: 'string' }),
  ETag: header('Stands for the answer without its clock. Send it as `If-None-Match` with the next read', {
    type: 'string',
  }),
  Location: header('Where the browser goes on', { type: 'string' }),
  RefreshCookie: header(
    'The refresh token: `refresh_token=…; HttpOnly; SameSite=Strict; Path=/api/v1/auth`; empty after a logout',
    {
      type: 'string',
    },
  ),
}

const refer = (name: keyof typeof HEADERS) => ({ $ref: `#/components/headers/${name}` })
const REQUEST_ID = { 'X-Request-Id': refer('RequestId') }
const RETRY_AFTER = { 'Retry-After': refer('RetryAfter') }
const LIMITED = { ...RETRY_AFTER, 'X-RateLimit-Remaining': refer('RateLimitRemaining') }
const errorOf = (code: string, message: string) => ({
  schema: { $ref: '#/components/schemas/Error' },
  example: { error: { code, message } },
})
const text = (example: string) => ({ schema: { type: 'string' }, example })
const LIMIT_REACHED = 'Too many requests: try again in 1 seconds'

const TOO_MANY = {
  description: 'Too many requests from this address',
  headers: { ...REQUEST_ID, ...LIMITED },
  content: { 'text/plain': text(LIMIT_REACHED) },
}
const ATTEMPTS_EXAMPLE = {
  code: 'AUTH_RATE_LIMIT_EXCEEDED',
  message: 'Too many attempts',
  retry_after_secs: 900,
  reason: 'Too many attempts',
}

const TOO_MANY_ATTEMPTS = {
  description: 'Too many requests from this address (plain text), or too many attempts (JSON)',
  headers: { ...REQUEST_ID, ...LIMITED },
  content: {
    'text/plain': text(LIMIT_REACHED),
    'application/json': {
      schema: { $ref: '#/components/schemas/AttemptsError' },
      example: { error: ATTEMPTS_EXAMPLE },
    },
  },
  'x-error-codes': ['AUTH_RATE_LIMIT_EXCEEDED'],
}

/** Responses of several operations, and the response to an unknown method. */
export const RESPONSES = {
  NotModified: {
    description: 'The answer is the one of the tag in `If-None-Match`; there is no body',
    headers: { ...REQUEST_ID, ETag: refer('ETag') },
  },
  TooManyRequests: TOO_MANY,
  TooManyAttempts: TOO_MANY_ATTEMPTS,
  MethodNotAllowed: {
    description: 'The path has no such method',
    headers: { ...REQUEST_ID, Allow: refer('Allow') },
    content: { 'application/json': errorOf('METHOD_NOT_ALLOWED', 'PUT is not allowed here; allowed: GET, HEAD') },
    'x-error-codes': ['METHOD_NOT_ALLOWED'],
  },
}

/** The body of a refusal by the login limit. It has fields of its own, outside of `details`. */
export const ATTEMPTS_ERROR = {
  type: 'object',
  additionalProperties: false,
  required: ['error'],
  properties: {
    error: {
      description: 'Why the request was refused',
      examples: [ATTEMPTS_EXAMPLE],
      type: 'object',
      additionalProperties: false,
      required: ['code', 'message', 'retry_after_secs', 'reason'],
      properties: {
        code: {
          const: 'AUTH_RATE_LIMIT_EXCEEDED',
          description: 'The only code of this refusal',
          examples: ['AUTH_RATE_LIMIT_EXCEEDED'],
        },
        message: { type: 'string', description: 'What is wrong, for people', examples: ['Too many attempts'] },
        retry_after_secs: { type: 'integer', description: 'Seconds after which to try again', examples: [900] },
        reason: { type: 'string', description: 'Which limit was reached, for people', examples: ['Too many attempts'] },
      },
    },
  },
}

export function responsesOf(operation: Operation, components: Components): Record<string, unknown> {
  const responses: Record<string, unknown> = {}
  for (const [status, schema] of Object.entries(operation.responses)) {
    responses[status] = successResponse(Number(status), schema, operation, components)
  }
  if (isTagged(operation)) responses[304] = { $ref: '#/components/responses/NotModified' }
  const codes = byStatus(errorCodesOf(operation))
  for (const [status, these] of codes) {
    // The operation describes this status itself.
    if (responses[status] !== undefined || status === 429) continue
    responses[status] = {
      description: `${REASONS[status]}: ${these.map((code) => `\`${code}\``).join(', ')}`,
      headers: { ...REQUEST_ID, ...(status === 503 ? RETRY_AFTER : {}) },
      content: { 'application/json': errorOf(these[0] ?? '', REASONS[status] ?? '') },
      'x-error-codes': these,
    }
  }
  if (!isProbe(operation)) {
    const name = codes.has(429) ? 'TooManyAttempts' : 'TooManyRequests'
    responses[429] = { $ref: `#/components/responses/${name}` }
  }
  return responses
}

/** Reads that answer with JSON. */
const isTagged = ({ method, responses: { 200: answer } }: Operation) =>
  method === 'GET' && typeof answer === 'object' && answer !== null

function byStatus(codes: ErrorCode[]): Map<number, ErrorCode[]> {
  const groups = new Map<number, ErrorCode[]>()
  for (const code of codes) groups.set(ERROR_CODES[code], [...(groups.get(ERROR_CODES[code]) ?? []), code])
  return groups
}

const STREAM = 'data: {"event":"ping","data":{"type":"ping"}}\n\n'

const LOG_TEXT = '2026-01-31T09:00:00.000Z\tweb-1\tnginx restarted\n'

const REDIRECT = 302

function successResponse(
  status: number,
  schema: TSchema | string | null,
  operation: Operation,
  components: Components,
) {
  const headers = {
    ...REQUEST_ID,
    ...(status === 200 && isTagged(operation) ? { ETag: refer('ETag') } : {}),
    ...(operation.cookie === undefined ? {} : { 'Set-Cookie': refer('RefreshCookie') }),
    ...Object.fromEntries(
      Object.entries(operation.answerHeaders ?? {}).map(([name, description]) => [
        name,
        header(description, { type: 'integer' }),
      ]),
    ),
  }
  if (status === REDIRECT) {
    return { description: 'The browser goes on to `Location`', headers: { ...headers, Location: refer('Location') } }
  }
  if (schema === null) return { description: 'Done; the body is empty', headers }
  if (schema === 'application/octet-stream')
    return { description: 'The bytes', headers, content: { [schema]: { example: 'The bytes' } } }
  if (schema === 'text/plain') return { description: 'The text', headers, content: { [schema]: text(LOG_TEXT) } }
  if (typeof schema === 'string') return { description: 'A stream', headers, content: { [schema]: text(STREAM) } }
  const content = { schema: components.refer(schema), example: exampleOf(schema) }
  return { description: 'Done', headers, content: { 'application/json': content } }
}
