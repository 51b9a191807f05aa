import type { IncomingMessage, ServerResponse } from 'node:http'
import { uuidv7 } from './ids.ts'

/** Only characters that are safe in a log line and in a header. */
const ACCEPTED = /^[A-Za-z0-9._-]{1,128}$/

/** Returns the request id of the caller, or a new id if the caller's is not valid. Sets `X-Request-Id` of the answer. */
export function takeRequestId(request: IncomingMessage, response: ServerResponse): string {
  const given = request.headers['x-request-id']
  const id = typeof given === 'string' && ACCEPTED.test(given) ? given : uuidv7()
  response.setHeader('X-Request-Id', id)
  return id
}
