import http from 'node:http'
import https from 'node:https'
import type { LookupFunction } from 'node:net'

export interface Exchange {
  url: URL | string
  headers: Record<string, string>
  body: string
  /** How the far end is called in errors. */
  to: string
  agent: http.Agent | false
  lookup?: LookupFunction
  /** For everything together, from `since` on: from now unless given. */
  timeoutMs: number
  since?: number
  /** How long the answer may take once it has begun, in place of what is left of `timeoutMs`. */
  endingMs?: number
  maxAnswerBytes: number
  /** Whether of a longer answer the beginning is enough. */
  mayCut?: boolean
  signal?: AbortSignal
}

export interface Answer {
  status: number
  headers: http.IncomingHttpHeaders
  /** Comes whether it is waited for or not; rejects when it breaks off, takes too long or is longer than it may be. */
  body: Promise<Buffer>
}

/**
 * Posts, and resolves when an answer begins. Redirects are answers like any other. Not by fetch, which takes more than
 * twice the processor time.
 */
export function exchange(options: Exchange): Promise<Answer> {
  const { url, to, body, timeoutMs, since = Date.now(), endingMs, signal } = options
  return new Promise((resolve, reject) => {
    const { request } = String(url).startsWith('https:') ? https : http
    const outgoing = request(url, {
      method: 'POST',
      agent: options.agent,
      ...(options.lookup ? { lookup: options.lookup } : {}),
      headers: { ...options.headers, 'content-length': Buffer.byteLength(body) },
    })
    /** Before the connection ends: a response that has begun would tell of that in words of its own. */
    let fail = reject
    const giveUp = (reason: Error) => {
      fail(reason)
      outgoing.destroy()
    }
    const late = (ms: number) => () => giveUp(new Error(`${to} gave no whole answer within ${ms} ms`))
    let timer = setTimeout(late(timeoutMs), Math.max(0, since + timeoutMs - Date.now()))
    const stop = () => giveUp(signal?.reason)
    if (signal?.aborted) stop()
    signal?.addEventListener('abort', stop)
    outgoing.on('close', () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', stop)
    })
    outgoing.on('error', (error) => fail(error))
    outgoing.on('response', (response) => {
      if (endingMs !== undefined) {
        clearTimeout(timer)
        timer = setTimeout(late(endingMs), endingMs)
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
    if (size > maxAnswerBytes) broken(new Error(`${to}'s answer is longer than ${maxAnswerBytes} bytes`))
  })
  response.on('end', () => whole(Buffer.concat(pieces)))
  response.on('error', broken)
}
