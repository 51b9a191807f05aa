import { createHash } from 'node:crypto'
import type { Answer } from '@slipway/http'

const NOT_MODIFIED = 304
const TAG_LENGTH = 22
/** Longer texts have no tag, in characters: hashing them would hold up other requests, and no client keeps them. */
const MAX_LENGTH = 500_000

/**
 * Tags the answer of a read, and answers 304 without body if the client has the same one already. The tag is weak: the clock of an answer
 * is no part of it. An answer that is sent while it is read has no tag.
 */
export function tagged(answer: Answer, ifNoneMatch: string | undefined): Answer {
  const { status, headers, same } = answer
  const text = status === 200 ? textOf(answer) : null
  if (text === null || text.length > MAX_LENGTH) return answer
  const etag = tagOf(same === undefined ? text : JSON.stringify(same))
  const withTag = { ...headers, ETag: etag }
  if (hasTag(ifNoneMatch, etag)) return { status: NOT_MODIFIED, headers: withTag }
  return { status, headers: withTag, json: text }
}

function textOf(answer: Answer): string | null {
  if ('json' in answer) return answer.json
  return 'body' in answer && answer.body !== undefined ? JSON.stringify(answer.body) : null
}

const tagOf = (text: string) => `W/"${createHash('sha256').update(text).digest('base64url').slice(0, TAG_LENGTH)}"`

const opaque = (tag: string) => tag.trim().replace(/^W\//, '')

/** Whether an `If-None-Match` names the tag, by the weak comparison of RFC 9110. */
function hasTag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  return ifNoneMatch.trim() === '*' || ifNoneMatch.split(',').some((tag) => opaque(tag) === opaque(etag))
}
