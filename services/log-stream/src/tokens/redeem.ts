import { type SseTokenRecord, sseTokenKey } from '@slipway/contracts'
import type { Queryable } from '@slipway/database'
import { insufficientPermissions, Problem, unavailable } from '@slipway/domain'
import type { Redis } from '@slipway/redis'
import { hashToken, type Logger } from '@slipway/runtime'
import { type Standing, standingsOf } from './standing.ts'

/** A longer text is no token of ours, and need not be hashed to know it. */
const MAX_TOKEN_LENGTH = 512

/** Who opens a stream, and what they may see as the stream is opened. */
export interface Holder {
  record: SseTokenRecord
  standing: Standing
}

/**
 * Takes an SSE token and says whose it is. Reading it is spending it: of two that come at once with the same token one gets
 * the record, the other 401.
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
  // Revoked since it was given out.
  if (!standing) throw invalidToken()
  return { record, standing }
}

export function requirePermission(standing: Standing, permission: string): void {
  if (!standing.permissions.includes(permission)) throw insufficientPermissions(permission)
}

const invalidToken = () =>
  new Problem('INVALID_TOKEN', 'The SSE token is not valid, has expired or was used before: request a new one')
