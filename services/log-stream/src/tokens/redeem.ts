import type { SseTokenRecord } from '@slipway/contracts'
import type { Queryable } from '@slipway/database'
import { Problem, unavailable } from '@slipway/domain'
import { hashToken, type KeyRing, type Logger, SecretError } from '@slipway/runtime'
import { type Redis, sseTokenKey } from '@slipway/runtime/redis'
import { type PresentRights, presentRightsOf } from './rights.ts'

/** Longer text is not a token, so it is not hashed. */
const MAX_TOKEN_LENGTH = 512

/** The user of a stream, and what the user may see when the stream opens. */
export interface RedeemedToken {
  record: SseTokenRecord
  rights: PresentRights
}

interface TokenStore {
  redis: Redis
  database: Queryable
  keys: KeyRing
  namespace: string
  logger: Logger
}

/**
 * Redeems an SSE token and returns its user. Redeeming deletes the token: of two requests with the same token, one gets 401.
 */
export async function redeemToken(
  { redis, database, keys, namespace, logger }: TokenStore,
  token: unknown,
): Promise<RedeemedToken> {
  if (token === undefined || token === '') {
    throw new Problem(
      'UNAUTHORIZED',
      'This stream needs the query parameter sse_token, from POST /api/v1/auth/sse-token',
    )
  }
  if (typeof token !== 'string' || token.length > MAX_TOKEN_LENGTH) throw invalidToken()
  const key = sseTokenKey(namespace, hashToken(token))
  let stored: string | null
  try {
    stored = await redis.getdel(key)
  } catch (error) {
    logger.warn('an SSE token cannot be checked', { error })
    throw unavailable('The token cannot be checked now: try again with a new one')
  }
  if (stored === null) throw invalidToken()
  const record = openRecord(keys, stored, key)
  if (record === null) throw invalidToken()
  const [rights] = await presentRightsOf(database, [record])
  // The session or key was revoked after the token was issued.
  if (!rights) throw invalidToken()
  return { record, rights }
}

/** Null if a gateway did not write it: who can write to Redis must not become any user. */
function openRecord(keys: KeyRing, stored: string, key: string): SseTokenRecord | null {
  try {
    return JSON.parse(keys.openText(stored, key)) as SseTokenRecord
  } catch (error) {
    if (error instanceof SecretError) return null
    throw error
  }
}

const invalidToken = () =>
  new Problem('INVALID_TOKEN', 'The SSE token is not valid, has expired or was used before: request a new one')
