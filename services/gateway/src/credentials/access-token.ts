import { createSecretKey, type KeyObject } from 'node:crypto'
import { Problem } from '@slipway/domain'
import { ConfigurationError, parseKeys, SecretError, uuidv7 } from '@slipway/runtime'
import jwt from 'jsonwebtoken'

export const ACCESS_TOKEN_SECONDS = 3_600
/** How long somebody may look for their authenticator. */
export const PENDING_TOKEN_SECONDS = 300

const ALGORITHM = 'HS256'
const ISSUER = 'slipway'
const AUDIENCE = 'slipway-api'
const MIN_KEY_BYTES = 32
/** Replicas' clocks may differ by this much. */
const CLOCK_TOLERANCE_SECONDS = 5

const KINDS = { access: ACCESS_TOKEN_SECONDS, pending_2fa: PENDING_TOKEN_SECONDS } as const

/** Who an access token was issued to, and in which session. */
export interface AccessClaims {
  user_id: string
  session_id: string
}

/** Whose password was right, as the account was then. */
export interface PendingClaims {
  user_id: string
  token_version: number
  /** Of this one token. */
  token_id: string
}

/** Signed tokens, of two kinds that never stand in for each other. Refresh and SSE tokens are none: they mean nothing. */
export interface AccessTokens {
  issue(claims: AccessClaims): string
  /** @throws Problem INVALID_TOKEN, TOKEN_EXPIRED; TWO_FACTOR_REQUIRED for a pending token */
  verify(token: string): AccessClaims
  issuePending(claims: Omit<PendingClaims, 'token_id'>): string
  /** @throws Problem INVALID_TOKEN */
  verifyPending(token: string): PendingClaims
}

/** Reads SLIPWAY_JWT_KEYS. The first key signs; tokens of the others stay valid. Throws ConfigurationError. */
export function createAccessTokens(keysText: string): AccessTokens {
  const keys = readKeys(keysText)
  const [signing] = keys
  const [signingId, signingKey] = signing as [string, KeyObject]
  const sign = (kind: keyof typeof KINDS, subject: string, claims: object) =>
    jwt.sign({ kind, ...claims }, signingKey, {
      algorithm: ALGORITHM,
      keyid: signingId,
      issuer: ISSUER,
      audience: AUDIENCE,
      subject,
      jwtid: uuidv7(),
      notBefore: 0,
      expiresIn: KINDS[kind],
    })
  return {
    issue: ({ user_id, session_id }) => sign('access', user_id, { sid: session_id }),
    verify: (token) => accessClaims(genuine(token, keys)),
    issuePending: ({ user_id, token_version }) => sign('pending_2fa', user_id, { ver: token_version }),
    verifyPending: (token) => pendingClaims(genuine(token, keys)),
  }
}

function accessClaims({ kind, sub, sid, expired }: GenuineToken): AccessClaims {
  if (kind === 'pending_2fa' && !expired) {
    throw new Problem('TWO_FACTOR_REQUIRED', 'Send this token with a code to POST /api/v1/auth/2fa/verify first')
  }
  if (kind !== 'access' || typeof sid !== 'string') throw invalidToken()
  if (expired) throw new Problem('TOKEN_EXPIRED', 'The access token has expired: refresh it or log in again')
  return { user_id: sub, session_id: sid }
}

function pendingClaims({ kind, sub, ver, jti, expired }: GenuineToken): PendingClaims {
  if (kind !== 'pending_2fa' || expired || typeof ver !== 'number' || typeof jti !== 'string') throw invalidToken()
  return { user_id: sub, token_version: ver, token_id: jti }
}

interface GenuineToken extends jwt.JwtPayload {
  sub: string
  expired: boolean
}

/** What a token of ours says, whatever its kind; only one that is right in every other way counts as expired. */
function genuine(token: string, keys: Map<string, KeyObject>): GenuineToken {
  // The key comes from our table alone: never from the token, and never by a type that the token chooses.
  const key = keys.get(String(headerOf(token)?.kid))
  if (key === undefined) throw invalidToken()
  const payload = checkedPayload(token, key)
  const { sub, exp, iat, nbf } = payload
  if (typeof sub !== 'string') throw invalidToken()
  if (typeof exp !== 'number' || typeof iat !== 'number' || typeof nbf !== 'number') throw invalidToken()
  return { ...payload, sub, expired: exp <= Date.now() / 1_000 }
}

function checkedPayload(token: string, key: KeyObject): jwt.JwtPayload {
  try {
    const payload = jwt.verify(token, key, {
      algorithms: [ALGORITHM],
      issuer: ISSUER,
      audience: AUDIENCE,
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      // Judged by us, after all else.
      ignoreExpiration: true,
    })
    if (typeof payload === 'object') return payload
  } catch {
    // What is wrong with it is nobody's business.
  }
  throw invalidToken()
}

function headerOf(token: string): jwt.JwtHeader | undefined {
  try {
    return jwt.decode(token, { complete: true })?.header
  } catch {
    return undefined
  }
}

const invalidToken = () => new Problem('INVALID_TOKEN', 'The token is not valid: log in again')

/** As key objects: from bytes a verification would make one each time, trying first whether they are a public key. */
function readKeys(text: string): Map<string, KeyObject> {
  const wrong = (problem: string) =>
    new ConfigurationError([
      { variable: 'SLIPWAY_JWT_KEYS', problem, example: '2026-01:<output of `openssl rand -base64 32`>' },
    ])
  try {
    const keys = parseKeys(text)
    for (const [id, key] of keys) {
      if (key.length < MIN_KEY_BYTES)
        throw wrong(`has only ${key.length} bytes in key ${id}; it needs ${MIN_KEY_BYTES}`)
    }
    return new Map([...keys].map(([id, key]) => [id, createSecretKey(key)]))
  } catch (error) {
    if (error instanceof SecretError) throw wrong(`cannot be read: ${error.message}`)
    throw error
  }
}
