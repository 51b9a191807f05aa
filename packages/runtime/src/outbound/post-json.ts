import http from 'node:http'
import https from 'node:https'
import { type Answer, type Exchange, exchange } from './exchange.ts'

/** Shorter than servers of Slipway keep a connection, so that no call meets a connection that just closed. */
export const KEEP_ALIVE_MS = 30_000

const agents = {
  http: new http.Agent({ keepAlive: true, timeout: KEEP_ALIVE_MS }),
  https: new https.Agent({ keepAlive: true, timeout: KEEP_ALIVE_MS }),
}

/** Most answers between parts of Slipway are shorter. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024

export interface JsonPost extends Pick<Exchange, 'body' | 'to' | 'timeoutMs' | 'endingMs' | 'signal'> {
  /** What sends more is not read to its end. */
  maxAnswerBytes?: number
  url: string
  /** What the caller shows of itself. */
  token: string
  headers?: Record<string, string>
  /** The pool of connections; one for all callers unless given. */
  agent?: http.Agent
}

/** Posts JSON to another part of Slipway, over connections that are kept. */
export function postJson({
  token,
  headers,
  agent,
  maxAnswerBytes = MAX_ANSWER_BYTES,
  ...post
}: JsonPost): Promise<Answer> {
  return exchange({
    ...post,
    headers: { ...headers, authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    agent: agent ?? (post.url.startsWith('https:') ? agents.https : agents.http),
    maxAnswerBytes,
  })
}
