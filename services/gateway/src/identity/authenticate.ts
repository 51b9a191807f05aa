import type { Queryable } from '@slipway/database'
import { isUuid, Problem } from '@slipway/domain'
import type { AccessTokens } from './access-token.ts'
import { type CallingUser, findUserById } from './calling-user.ts'

const API_KEY_PREFIX = 'svc_'

/**
 * Tells who makes a request, from its Authorization header.
 * @throws Problem with the 401 code of the case, or FORBIDDEN for an account that is not active
 */
export async function authenticate(
  { database, accessTokens }: { database: Queryable; accessTokens: AccessTokens },
  authorization: string | undefined,
  clientIp: string,
): Promise<CallingUser> {
  const token = bearerOf(authorization)
  // No keys have been issued, so each is an unknown one.
  if (token.startsWith(API_KEY_PREFIX)) {
    throw new Problem('INVALID_CREDENTIALS', 'This API key is unknown, expired or revoked')
  }
  const userId = accessTokens.verify(token)
  const user = isUuid(userId) ? await findUserById(database, userId) : null
  if (user === null) throw new Problem('INVALID_TOKEN', 'The user of this access token does not exist any more')
  if (user.status !== 'active') throw new Problem('FORBIDDEN', 'This account is not active: ask an administrator')
  return { ...user, client_ip: clientIp }
}

function bearerOf(authorization: string | undefined): string {
  if (authorization === undefined) {
    throw new Problem('MISSING_AUTH_HEADER', 'Send the header "Authorization: Bearer <token>"')
  }
  if (authorization.trim() === '') throw new Problem('UNAUTHORIZED', 'The Authorization header is empty')
  const token = /^Bearer +([^\s]+)$/i.exec(authorization.trim())?.[1]
  if (token === undefined) {
    throw new Problem('INVALID_AUTH_HEADER', 'The Authorization header must be "Bearer <token>"')
  }
  return token
}
