import { type Answer, type Exchange, exchange } from './exchange.ts'

/** Shorter than the idle timeout of Slipway's servers, so no call uses a connection that the server closes. */
export const KEEP_ALIVE_MS = 30_000

/** The default limit of an answer. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024

export interface JsonPost
  extends Pick<Exchange, 'agent' | 'body' | 'to' | 'timeoutMs' | 'endingMs' | 'idleMs' | 'signal'> {
  maxAnswerBytes?: number
  url: string
  /** The credential of the caller. */
  token: string
}

/** Posts JSON to another part of Slipway. */
export function postJson({ token, maxAnswerBytes = MAX_ANSWER_BYTES, ...post }: JsonPost): Promise<Answer> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  return exchange({ ...post, headers, maxAnswerBytes })
}
