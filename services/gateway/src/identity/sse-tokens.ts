import type { SseTokenRecord } from '@slipway/contracts'
import { Problem } from '@slipway/domain'
import { hashToken, randomToken, uuidv7 } from '@slipway/runtime'
import { sseSessionsKey, sseTokenKey } from '@slipway/runtime/redis'
import type { CallingUser } from '../callers/calling-user.ts'
import type { Dependencies } from '../dependencies.ts'
import type { HandlersOf } from '../handler.ts'
import { REFRESH_TOKEN_DAYS } from './sessions.sql.ts'

const TOKEN_SECONDS = 60
const SESSION_SECONDS = REFRESH_TOKEN_DAYS * 86_400
/** Stream sessions of one credential. A further session deletes the oldest one. */
const MAX_SESSIONS = 1_000

// One Redis hash per credential: session id → token version and hash of the refresh token. The smallest UUIDv7 is the oldest.
const BEGIN_SESSION = `
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
  redis.call('EXPIRE', KEYS[1], ARGV[3])
  if redis.call('HLEN', KEYS[1]) > tonumber(ARGV[4]) then
    local oldest = ARGV[1]
    for _, id in ipairs(redis.call('HKEYS', KEYS[1])) do
      if id < oldest then oldest = id end
    end
    redis.call('HDEL', KEYS[1], oldest)
  end
  redis.call('SET', KEYS[2], ARGV[5], 'EX', ARGV[6])
  return 1`

const CONTINUE_SESSION = `
  if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[7] then return 0 end
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
  redis.call('EXPIRE', KEYS[1], ARGV[3])
  redis.call('SET', KEYS[2], ARGV[5], 'EX', ARGV[6])
  return 1`

/** Single-use tokens for live streams, and the stream sessions that renew them. Redis has only hashes of them, and sealed records. */
export function sseTokenHandlers({
  cache,
  keys,
  namespace,
}: Pick<Dependencies, 'cache' | 'keys' | 'namespace'>): HandlersOf<'createSseToken' | 'refreshSseToken'> {
  /** Makes the next token of a session. `spent` is the refresh token of a session that continues. */
  async function next({ user_id, credential }: CallingUser, sessionId: string, spent?: string) {
    const token = randomToken()
    const refreshToken = randomToken()
    const record: SseTokenRecord = { user_id, session_id: sessionId, credential }
    const key = sseTokenKey(namespace, hashToken(token))
    // Contains the token version, so a logout ends the session.
    const kept = (text: string) => `${credential.token_version}:${hashToken(text)}`
    const done = await cache.run((redis) =>
      redis.eval(
        spent === undefined ? BEGIN_SESSION : CONTINUE_SESSION,
        2,
        sseSessionsKey(namespace, credential.id),
        key,
        sessionId,
        kept(refreshToken),
        SESSION_SECONDS,
        MAX_SESSIONS,
        keys.seal(JSON.stringify(record), key),
        TOKEN_SECONDS,
        spent === undefined ? '' : kept(spent),
      ),
    )
    if (done !== 1)
      throw new Problem(
        'INVALID_TOKEN',
        'This stream session is unknown or has ended, or its token was used: get a new one with POST /auth/sse-token',
      )
    const body = { sse_token: token, expires_in: TOKEN_SECONDS, session_id: sessionId, refresh_token: refreshToken }
    return { status: 200, body }
  }

  return {
    createSseToken: { handle: ({ caller }) => next(caller, uuidv7()) },
    refreshSseToken: {
      handle: ({ caller, body }) => next(caller, body.session_id.toLowerCase(), body.refresh_token),
    },
  }
}
