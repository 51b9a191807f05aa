import { decodeJwt, decodeProtectedHeader, errors, type JWTPayload, jwtVerify } from 'jose'
import type { IssuerKeys } from './issuer-keys.ts'
import { IssuerUnavailable, type KeySet } from './key-set.ts'
import type { Claims } from './matching.ts'
import { TokenRefused } from './refusal.ts'

/** Signatures of public keys only: with `none` or a shared secret, everybody could sign. */
const ALGORITHMS = ['RS256', 'ES256', 'PS256', 'EdDSA']
/** How far the clocks of an issuer and of the gateway may be apart. */
export const SKEW_SECONDS = 60
const MAX_LIFETIME_SECONDS = 24 * 3_600

/** A token that its issuer has signed, within its time. */
export interface GenuineToken {
  claims: Claims
  issuer: string
  /** In seconds since 1970. It may have passed, by no more than the skew. */
  expires: number
  /** What identifies the token among those of its issuer. */
  identity: string
}

interface Verification {
  /** The issuers that a trust of the named account names. No other issuer is ever called. */
  trusted: ReadonlySet<string>
  keys: IssuerKeys
  /** In milliseconds. */
  now: number
}

/**
 * Verifies the signature and the times of a token.
 * @throws TokenRefused
 */
export async function verifyToken(token: string, { trusted, keys, now }: Verification): Promise<GenuineToken> {
  const { issuer } = readUnverified(token)
  if (!trusted.has(issuer)) {
    // The work of a known issuer, as far as it needs no call: the time must not tell whether an account trusts an issuer.
    const cached = keys.cachedKeysOf(issuer)
    if (cached !== null) await verifyWith(token, { issuer, keySet: cached, now }).catch(() => {})
    throw new TokenRefused('untrusted_issuer')
  }
  const payload = await verifyRenewing(token, issuer, keys, now)
  const { exp, iat, jti } = payload
  if (exp === undefined || iat === undefined) throw new TokenRefused('missing_claim', { claim: 'exp' })
  if (exp - iat > MAX_LIFETIME_SECONDS) throw new TokenRefused('lifetime_too_long', { claim: 'exp' })
  // Without its signature, of which the same key can make several for one token.
  const signed = token.slice(0, token.lastIndexOf('.'))
  const identity = typeof jti === 'string' && jti !== '' ? `jti ${jti}` : `token ${signed}`
  return { claims: payload, issuer, expires: exp, identity }
}

/** Reads what nobody has verified yet. Keys in the header (`jwk`, `jku`, `x5c`, `x5u`) are never used. */
function readUnverified(token: string): { issuer: string } {
  const { alg, iss } = decode(token)
  if (typeof alg !== 'string' || !ALGORITHMS.includes(alg)) throw new TokenRefused('algorithm_not_allowed')
  if (typeof iss !== 'string') throw new TokenRefused('missing_claim', { claim: 'iss' })
  return { issuer: iss }
}

function decode(token: string): { alg: unknown; iss: unknown } {
  try {
    return { alg: decodeProtectedHeader(token).alg, iss: decodeJwt(token).iss }
  } catch {
    throw new TokenRefused('malformed_token')
  }
}

async function verifyRenewing(token: string, issuer: string, keys: IssuerKeys, now: number): Promise<JWTPayload> {
  try {
    const known = await keys.keysOf(issuer)
    try {
      return await verifyWith(token, { issuer, keySet: known, now })
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error
      const keySet = await keys.newerKeysOf(issuer, known)
      if (keySet === null) throw error
      return await verifyWith(token, { issuer, keySet, now })
    }
  } catch (error) {
    throw refusalOf(error)
  }
}

interface Checks {
  issuer: string
  keySet: KeySet
  now: number
}

async function verifyWith(token: string, { issuer, keySet, now }: Checks): Promise<JWTPayload> {
  const { payload } = await jwtVerify(token, keySet.find, {
    algorithms: ALGORITHMS,
    issuer,
    currentDate: new Date(now),
    clockTolerance: SKEW_SECONDS,
    // Also refuses an `iat` in the future.
    maxTokenAge: MAX_LIFETIME_SECONDS,
    requiredClaims: ['exp', 'iat'],
  })
  return payload
}

function refusalOf(error: unknown): TokenRefused {
  if (error instanceof IssuerUnavailable) return new TokenRefused('issuer_unavailable', { problem: error.message })
  if (error instanceof errors.JWTExpired) return new TokenRefused('expired', { claim: error.claim })
  if (error instanceof errors.JWTClaimValidationFailed) {
    return new TokenRefused(error.reason === 'missing' ? 'missing_claim' : 'wrong_claim', { claim: error.claim })
  }
  if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys) {
    return new TokenRefused('unknown_key')
  }
  if (error instanceof errors.JWSSignatureVerificationFailed) return new TokenRefused('wrong_signature')
  if (error instanceof errors.JOSEAlgNotAllowed) return new TokenRefused('algorithm_not_allowed')
  if (error instanceof errors.JWSInvalid || error instanceof errors.JWTInvalid)
    return new TokenRefused('malformed_token')
  // A critical header that nobody knows, or a key of the issuer that cannot be imported or is too short.
  return new TokenRefused('unusable_key')
}
