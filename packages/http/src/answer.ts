import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type AnyRefusal, bodyOfRefusal } from './refusal.ts'

/** `body` becomes JSON, `json` and `chunks` are JSON text, whole or in parts, `lines` is plain text, `bytes` any other content. */
export type Answer = {
  status: number
  headers?: Record<string, string | string[]>
  /** What a client compares: an answer with an equal one is the same. Without it: the body. */
  same?: unknown
} & (
  | { body?: unknown }
  | { json: string }
  | { bytes: AsyncIterable<Buffer> | Iterable<Buffer>; length: number }
  | { chunks: AsyncIterable<string> }
  | { lines: AsyncIterable<string> }
)

/** Sends an answer. If the client closes the connection meanwhile, this resolves, too. */
export async function sendAnswer(response: ServerResponse, answer: Answer): Promise<void> {
  response.statusCode = answer.status
  for (const [name, value] of Object.entries(answer.headers ?? {})) response.setHeader(name, value)
  if ('chunks' in answer) return sendChunks(response, answer.chunks)
  if ('lines' in answer) {
    response.setHeader('Content-Type', 'text/plain; charset=utf-8')
    return sendContent(response, answer.lines, answer.headers)
  }
  if ('bytes' in answer) return sendBytes(response, answer)
  const text = 'json' in answer ? answer.json : answer.body === undefined ? undefined : JSON.stringify(answer.body)
  if (text === undefined) response.end()
  else sendJson(response, text)
}

function sendJson(response: ServerResponse, text: string): void {
  response.setHeader('Content-Type', JSON_TYPE)
  response.setHeader('Content-Length', Buffer.byteLength(text))
  response.end(text)
}

const JSON_TYPE = 'application/json; charset=utf-8'

async function sendChunks(response: ServerResponse, chunks: AsyncIterable<string>): Promise<void> {
  response.setHeader('Content-Type', JSON_TYPE)
  await stream(response, chunks)
}

async function sendBytes(
  response: ServerResponse,
  { bytes, length, headers }: Extract<Answer, { length: number }>,
): Promise<void> {
  response.setHeader('Content-Type', 'application/octet-stream')
  response.setHeader('Content-Length', length)
  await sendContent(response, bytes, headers)
}

async function sendContent(
  response: ServerResponse,
  chunks: Parameters<typeof stream>[1],
  headers: Answer['headers'],
): Promise<void> {
  try {
    await stream(response, chunks)
  } catch (error) {
    // Before the first byte, a refusal follows. The headers of the content do not fit it.
    if (!response.headersSent) for (const name of Object.keys(headers ?? {})) response.removeHeader(name)
    throw error
  }
}

/** The longest time in which a client may read nothing. */
const IDLE_MS = 60_000

/** Sends chunks no faster than the client reads them. */
async function stream(
  response: ServerResponse,
  chunks: AsyncIterable<string | Buffer> | Iterable<Buffer>,
): Promise<void> {
  if (response.req.method === 'HEAD') {
    response.end()
    return
  }
  response.setTimeout(IDLE_MS, () => response.destroy())
  const gone = once(response, 'close')
  for await (const chunk of chunks) {
    if (response.destroyed) return
    if (!response.write(chunk)) await Promise.race([once(response, 'drain'), gone])
    // Without this pause, a client that reads fast would keep other requests from the event loop.
    await nextTurn()
  }
  response.end()
}

const DEFAULT_RETRY_SECONDS: Record<number, number> = { 429: 1, 503: 2 }

/** Sends a refusal. Closes the connection if an answer has begun: the client must not take half of it for all. */
export function sendRefusal(response: ServerResponse, refusal: AnyRefusal): void {
  if (response.headersSent) {
    response.destroy()
    return
  }
  const { status } = refusal
  response.statusCode = status
  const retryAfter = refusal.details?.['retry_after_secs'] ?? DEFAULT_RETRY_SECONDS[status]
  if (retryAfter !== undefined) response.setHeader('Retry-After', String(retryAfter))
  if (status === 429) response.setHeader('X-RateLimit-Remaining', '0')
  sendJson(response, JSON.stringify(bodyOfRefusal(refusal)))
}

/** Answers 429 in plain text, because a flood must cost as little as possible. */
export function refuseFlood(response: ServerResponse): void {
  response.statusCode = 429
  response.setHeader('Content-Type', 'text/plain; charset=utf-8')
  response.setHeader('Retry-After', '1')
  response.setHeader('X-RateLimit-Remaining', '0')
  response.end('Too many requests from this address: try again in a second\n')
}
