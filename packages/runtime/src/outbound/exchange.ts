import http from 'node:http'
import https from 'node:https'
import type { LookupFunction } from 'node:net'

export interface Exchange {
  /** By default POST. */
  method?: 'GET' | 'POST'
  url: URL | string
  headers: Record<string, string>
  /** Of a POST. */
  body?: string
  /** The name of the server in errors. */
  to: string
  agent: http.Agent | false
  lookup?: LookupFunction
  /** The timeout of the whole call from `since` on, a value of performance.now(); by default from now on. */
  timeoutMs: number
  since?: number
  /** A separate timeout from the beginning of the answer to its end. */
  endingMs?: number
  /** The call fails after this time without a byte of an answer that has begun. */
  idleMs?: number
  maxAnswerBytes: number
  /** Whether to cut a longer answer. Otherwise a longer answer is an error. */
  mayCut?: boolean
  signal?: AbortSignal
}

export interface Answer {
  status: number
  headers: http.IncomingHttpHeaders
  /** Rejects if the connection breaks or the body takes too long or is too long. */
  body: Promise<Buffer>
}

/** The server was silent for too long. Connections of the same age may be half-open, too. */
export class NoAnswer extends Error {
  override name = 'NoAnswer'
  readonly code = 'ETIMEDOUT'
}

/** Sends a request. Resolves when the answer begins. Redirects are not followed. `fetch` needs more than twice the CPU. */
export function exchange(options: Exchange): Promise<Answer> {
  const { method = 'POST', url, to, body, timeoutMs, since = performance.now(), endingMs, idleMs, signal } = options
  return new Promise((resolve, reject) => {
    const { request } = String(url).startsWith('https:') ? https : http
    const outgoing = request(url, {
      method,
      agent: options.agent,
      ...(options.lookup ? { lookup: options.lookup } : {}),
      headers: { ...options.headers, ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }) },
    })
    /** Reject before closing the connection: the response would report the close with another error. */
    let fail = reject
    const giveUp = (reason: Error) => {
      fail(reason)
      outgoing.destroy()
    }
    const late = (ms: number) => () => giveUp(new NoAnswer(`${to} gave no complete answer within ${ms} ms`))
    let timer = setTimeout(late(timeoutMs), Math.max(0, since + timeoutMs - performance.now()))
    const stop = () => giveUp(signal?.reason)
    if (signal?.aborted) stop()
    signal?.addEventListener('abort', stop)
    let idle: NodeJS.Timeout | undefined
    outgoing.on('close', () => {
      clearTimeout(timer)
      clearTimeout(idle)
      signal?.removeEventListener('abort', stop)
    })
    outgoing.on('error', (error) => fail(error))
    outgoing.on('response', (response) => {
      if (endingMs !== undefined) {
        clearTimeout(timer)
        timer = setTimeout(late(endingMs), endingMs)
      }
      if (idleMs !== undefined) {
        const silent = new NoAnswer(`${to} sent nothing for ${idleMs} ms`)
        idle = setTimeout(() => giveUp(silent), idleMs)
        response.on('data', () => idle?.refresh())
      }
      const read = new Promise<Buffer>((whole, broken) => {
        fail = broken
        collect(response, options, { whole, broken: giveUp })
      })
      read.catch(() => {})
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: read })
    })
    outgoing.end(body)
  })
}

function collect(
  response: http.IncomingMessage,
  { to, maxAnswerBytes, mayCut }: Exchange,
  { whole, broken }: { whole(body: Buffer): void; broken(reason: Error): void },
): void {
  const pieces: Buffer[] = []
  let size = 0
  response.on('data', (piece: Buffer) => {
    pieces.push(piece)
    size += piece.length
    if (mayCut && size >= maxAnswerBytes) whole(Buffer.concat(pieces).subarray(0, maxAnswerBytes))
    if (size > maxAnswerBytes) broken(new Error(`the answer of ${to} is longer than ${maxAnswerBytes} bytes`))
  })
  response.on('end', () => whole(Buffer.concat(pieces)))
  response.on('error', broken)
}
