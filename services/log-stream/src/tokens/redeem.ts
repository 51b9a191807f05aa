import { type SseTokenRecord, sseTokenKey } from '@slipway/contracts'
import type { Queryable } from '@slipway/database'
import { insufficientPermissions, Problem, unavailable } from '@slipway/domain'
import type { Redis } from '@slipway/redis'
import { hashToken, type Logger } from '@slipway/runtime'
import { type Standing, standingsOf } from './standing.ts'

/** Longer text is not a token, so it is not hashed. */
const MAX_TOKEN_LENGTH = 512

/** The user of a stream, and what the user may see when the stream opens. */
export interface Holder {
  record: SseTokenRecord
  standing: Standing
}

/**
 * Redeems an SSE token and returns its user. Redeeming deletes the token: of two requests with the same token, one gets 401.
 */
export async function redeemToken(
  { redis, database, namespace, logger }: { redis: Redis; database: Queryable; namespace: string; logger: Logger },
  token: unknown,
): Promise<Holder> {
  if (token === undefined || token === '') {
    throw new Problem(
      'UNAUTHORIZED',
      'This stream needs the query parameter sse_token, from POST /api/v1/auth/sse-token',
    )
  }
  if (typeof token !== 'string' || token.length > MAX_TOKEN_LENGTH) throw invalidToken()
  let stored: string | null
  try {
    stored = await redis.getdel(sseTokenKey(namespace, hashToken(token)))
  } catch (error) {
    logger.warn('an SSE token cannot be checked', { error })
    throw unavailable('The token cannot be checked now: try again with a new one')
  }
  if (stored === null) throw invalidToken()
  const record = JSON.parse(stored) as SseTokenRecord
  const [standing] = await standingsOf(database, [record])
  // The session or key was revoked after the token was issued.
  if (!standing) throw invalidToken()
  return { record, standing }
}

export function requirePermission(standing: Standing, permission: string): void {
  if (!standing.permissions.includes(permission)) throw insufficientPermissions(permission)
}

const invalidToken = () =>
  new Problem('INVALID_TOKEN', 'The SSE token is not valid, has expired or was used before: request a new one')
