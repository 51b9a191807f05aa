import { createSecretKey, type KeyObject } from 'node:crypto'
import { Problem } from '@slipway/domain'
import { ConfigurationError, parseKeys, SecretError, uuidv7 } from '@slipway/runtime'
import jwt from 'jsonwebtoken'

export const ACCESS_TOKEN_SECONDS = 3_600
/** The time to enter a code of the second factor. */
export const PENDING_TOKEN_SECONDS = 300

const ALGORITHM = 'HS256'
const ISSUER = 'slipway'
const AUDIENCE = 'slipway-api'
const MIN_KEY_BYTES = 32
/** The clocks of replicas may differ. */
const CLOCK_TOLERANCE_SECONDS = 5

const KINDS = { access: ACCESS_TOKEN_SECONDS, pending_2fa: PENDING_TOKEN_SECONDS } as const

export interface AccessClaims {
  user_id: string
  session_id: string
}

/** A login with the right password that still needs the second factor. */
interface PendingClaims {
  user_id: string
  token_version: number
  token_id: string
}

/** Signed tokens of two kinds. Neither is accepted in the place of the other. */
export interface AccessTokens {
  issue(claims: AccessClaims, seconds?: number): string
  /** @throws Problem INVALID_TOKEN, TOKEN_EXPIRED, or TWO_FACTOR_REQUIRED for a pending token */
  verify(token: string): AccessClaims
  issuePending(claims: Omit<PendingClaims, 'token_id'>): string
  /** @throws Problem INVALID_TOKEN */
  verifyPending(token: string): PendingClaims
}

/**
 * Reads SLIPWAY_JWT_KEYS. The first key signs; tokens of the others stay valid.
 * @throws ConfigurationError
 */
export function createAccessTokens(keysText: string): AccessTokens {
  const keys = readKeys(keysText)
  const [signing] = keys
  const [signingId, signingKey] = signing as [string, KeyObject]
  const sign = (kind: keyof typeof KINDS, subject: string, claims: object, seconds: number = KINDS[kind]) =>
    jwt.sign({ kind, ...claims }, signingKey, {
      algorithm: ALGORITHM,
      keyid: signingId,
      issuer: ISSUER,
      audience: AUDIENCE,
      subject,
      jwtid: uuidv7(),
      notBefore: 0,
      expiresIn: seconds,
    })
  return {
    issue: ({ user_id, session_id }, seconds) => sign('access', user_id, { sid: session_id }, seconds),
    verify: (token) => accessClaims(verifySignature(token, keys)),
    issuePending: ({ user_id, token_version }) => sign('pending_2fa', user_id, { ver: token_version }),
    verifyPending: (token) => pendingClaims(verifySignature(token, keys)),
  }
}

function accessClaims({ kind, sub, sid, expired }: VerifiedToken): AccessClaims {
  if (kind === 'pending_2fa' && !expired) {
    throw new Problem('TWO_FACTOR_REQUIRED', 'Send this token with a code to POST /api/v1/auth/2fa/verify first')
  }
  if (kind !== 'access' || typeof sid !== 'string') throw invalidToken()
  if (expired) throw new Problem('TOKEN_EXPIRED', 'The access token has expired: refresh it or log in again')
  return { user_id: sub, session_id: sid }
}

function pendingClaims({ kind, sub, ver, jti, expired }: VerifiedToken): PendingClaims {
  if (kind !== 'pending_2fa' || expired || typeof ver !== 'number' || typeof jti !== 'string') throw invalidToken()
  return { user_id: sub, token_version: ver, token_id: jti }
}

interface VerifiedToken extends jwt.JwtPayload {
  sub: string
  expired: boolean
}

/** Verifies a token of any kind. A token counts as expired only if everything else is valid. */
function verifySignature(token: string, keys: Map<string, KeyObject>): VerifiedToken {
  // The token chooses only among the configured keys, and never the algorithm.
  const key = keys.get(String(headerOf(token)?.kid))
  if (key === undefined) throw invalidToken()
  const payload = verifyPayload(token, key)
  const { sub, exp, iat, nbf } = payload
  if (typeof sub !== 'string') throw invalidToken()
  if (typeof exp !== 'number' || typeof iat !== 'number' || typeof nbf !== 'number') throw invalidToken()
  return { ...payload, sub, expired: exp <= Date.now() / 1_000 }
}

function verifyPayload(token: string, key: KeyObject): jwt.JwtPayload {
  try {
    const payload = jwt.verify(token, key, {
      algorithms: [ALGORITHM],
      issuer: ISSUER,
      audience: AUDIENCE,
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      // The caller checks it last.
      ignoreExpiration: true,
    })
    if (typeof payload === 'object') return payload
  } catch {
    // The refusal does not say why: an attacker could use the reason.
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

/** Makes key objects: given bytes, jsonwebtoken makes one for each verification, and tries a public key first. */
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
