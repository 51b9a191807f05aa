import type { Queryable } from '@slipway/database'
import { isUuid, Problem } from '@slipway/domain'
import { hashToken, type Logger } from '@slipway/runtime'
import { LRUCache } from 'lru-cache'
import { findUserOfKey, findUserOfSession } from '../callers/calling-user.sql.ts'
import type { CallingUser, UserWithRoles } from '../callers/calling-user.ts'
import type { AccessClaims, AccessTokens } from '../credentials/access-token.ts'
import { isApiKey, isWellFormedApiKey } from './api-key.ts'
import { noteKeyUse } from './api-keys.sql.ts'

const NOTE_EVERY_MS = 60_000
/** Pairs of key and address that a process remembers. */
const NOTED_USES = 10_000

export interface Authentication {
  database: Queryable
  accessTokens: AccessTokens
  logger: Logger
}

/**
 * Finds the user of a request by its Authorization header.
 * @throws Problem with a 401 code, or FORBIDDEN for an account that is not active
 */
type Authenticate = (authorization: string | undefined, clientIp: string) => Promise<CallingUser>

export function createAuthenticate({ database, accessTokens, logger }: Authentication): Authenticate {
  const noteUse = createUseNotes(database, logger)
  return async (authorization, clientIp) => {
    const token = bearerOf(authorization)
    if (!isApiKey(token)) return { ...(await sessionCaller(database, accessTokens.verify(token))), client_ip: clientIp }
    const { use_is_due, ...caller } = await keyCaller(database, token, clientIp)
    if (use_is_due) noteUse(caller.credential.id, clientIp)
    return { ...caller, client_ip: clientIp }
  }
}

type Caller = Omit<CallingUser, 'client_ip'>

async function sessionCaller(database: Queryable, claims: AccessClaims): Promise<Caller> {
  const genuine = isUuid(claims.user_id) && isUuid(claims.session_id)
  const found = genuine ? await findUserOfSession.first(database, claims) : null
  if (found === null) throw new Problem('INVALID_TOKEN', 'The user of this access token does not exist any more')
  const { session_is_valid, ...user } = found
  requireActive(user)
  if (!session_is_valid) throw new Problem('INVALID_TOKEN', 'The session of this access token has ended: log in again')
  return {
    ...user,
    key: null,
    credential: { kind: 'session', id: claims.session_id, token_version: user.token_version },
  }
}

async function keyCaller(
  database: Queryable,
  key: string,
  clientIp: string,
): Promise<Caller & { use_is_due: boolean }> {
  const found = isWellFormedApiKey(key)
    ? await findUserOfKey.first(database, { key_hash: hashToken(key), client_ip: clientIp })
    : null
  if (found === null || found.key_expired) {
    throw new Problem('INVALID_CREDENTIALS', 'This API key is unknown, expired or revoked')
  }
  const { key_id, key_name, scopes, environment_ids, solution_ids, key_expired, ...user } = found
  requireActive(user)
  return {
    ...user,
    key: { scopes, environment_ids, solution_ids },
    credential: { kind: 'api_key', id: key_id, token_version: user.token_version },
    api_key: { id: key_id, name: key_name },
  }
}

/**
 * Records the use of a key in the background. Each process writes once a minute per key and address: two alternating addresses
 * must not cause a write for each request.
 */
function createUseNotes(database: Queryable, logger: Logger): (keyId: string, clientIp: string) => void {
  const noted = new LRUCache<string, number>({ max: NOTED_USES })
  return (keyId, clientIp) => {
    const use = `${keyId} ${clientIp}`
    if (performance.now() - (noted.get(use) ?? Number.NEGATIVE_INFINITY) < NOTE_EVERY_MS) return
    noted.set(use, performance.now())
    noteKeyUse
      .run(database, { id: keyId, client_ip: clientIp })
      .catch((error) => logger.warn('the use of an API key could not be recorded', { api_key_id: keyId, error }))
  }
}

function requireActive({ status }: UserWithRoles): void {
  if (status !== 'active') throw new Problem('FORBIDDEN', 'This account is not active: ask an administrator')
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
