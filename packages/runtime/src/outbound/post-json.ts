import http from 'node:http'
import https from 'node:https'
import { type Answer, type Exchange, exchange } from './exchange.ts'

/** Shorter than the idle timeout of Slipway's servers, so no call uses a connection that the server closes. */
export const KEEP_ALIVE_MS = 30_000

const agents = {
  http: new http.Agent({ keepAlive: true, timeout: KEEP_ALIVE_MS }),
  https: new https.Agent({ keepAlive: true, timeout: KEEP_ALIVE_MS }),
}

/** The default limit of an answer. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024

export interface JsonPost extends Pick<Exchange, 'body' | 'to' | 'timeoutMs' | 'endingMs' | 'signal'> {
  maxAnswerBytes?: number
  url: string
  /** The credential of the caller. */
  token: string
  headers?: Record<string, string>
  /** The connection pool; by default, one pool for all callers. */
  agent?: http.Agent
}

/** Posts JSON to another part of Slipway over pooled connections. */
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
