import type { ServerResponse } from 'node:http'

/** Answers 429 in plain text, because a flood must cost as little as possible. */
export function refuseFlood(response: ServerResponse): void {
  response.statusCode = 429
  response.setHeader('Content-Type', 'text/plain; charset=utf-8')
  response.setHeader('Retry-After', '1')
  response.setHeader('X-RateLimit-Remaining', '0')
  response.end('Too many requests from this address: try again in a second\n')
}
