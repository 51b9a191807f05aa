import type { IncomingMessage, ServerResponse } from 'node:http'
import { uuidv7 } from './ids.ts'

/** Of a caller, only what may stand in a log and in a header as it is. */
const ACCEPTED = /^[A-Za-z0-9._-]{1,128}$/

/** The id under which a request is logged and recorded: the caller's, or a new one. The answer has it as `X-Request-Id`. */
export function takeRequestId(request: IncomingMessage, response: ServerResponse): string {
  const given = request.headers['x-request-id']
  const id = typeof given === 'string' && ACCEPTED.test(given) ? given : uuidv7()
  response.setHeader('X-Request-Id', id)
  return id
}
