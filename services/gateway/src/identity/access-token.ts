import { Problem } from '@slipway/domain'
import { ConfigurationError, parseKeys, SecretError, uuidv7 } from '@slipway/runtime'
import jwt from 'jsonwebtoken'

export const ACCESS_TOKEN_SECONDS = 3_600

const ALGORITHM = 'HS256'
const ISSUER = 'slipway'
const AUDIENCE = 'slipway-api'
const KIND = 'access'
const MIN_KEY_BYTES = 32
/** Replicas' clocks may differ by this much. */
const CLOCK_TOLERANCE_SECONDS = 5

export interface AccessTokens {
  issue(userId: string): string
  /**
   * The id of the user that the token was issued to.
   * @throws Problem INVALID_TOKEN, TOKEN_EXPIRED
   */
  verify(token: string): string
}

/** Reads SLIPWAY_JWT_KEYS. The first key signs; tokens of the others stay valid. Throws ConfigurationError. */
export function createAccessTokens(keysText: string): AccessTokens {
  const keys = readKeys(keysText)
  const [signing] = keys
  const [signingId, signingKey] = signing as [string, Buffer]
  return {
    issue: (userId) =>
      jwt.sign({ kind: KIND }, signingKey, {
        algorithm: ALGORITHM,
        keyid: signingId,
        issuer: ISSUER,
        audience: AUDIENCE,
        subject: userId,
        jwtid: uuidv7(),
        notBefore: 0,
        expiresIn: ACCESS_TOKEN_SECONDS,
      }),
    verify: (token) => verify(token, keys),
  }
}

function verify(token: string, keys: Map<string, Buffer>): string {
  // The key comes from our table alone: never from the token, and never by a type that the token chooses.
  const key = keys.get(String(headerOf(token)?.kid))
  if (key === undefined) throw invalidToken()
  const payload = checkedPayload(token, key)
  const { sub, exp, iat, nbf, kind } = payload
  if (kind !== KIND || typeof sub !== 'string') throw invalidToken()
  if (typeof exp !== 'number' || typeof iat !== 'number' || typeof nbf !== 'number') throw invalidToken()
  if (exp <= Date.now() / 1_000)
    throw new Problem('TOKEN_EXPIRED', 'The access token has expired: refresh it or log in again')
  return sub
}

function checkedPayload(token: string, key: Buffer): jwt.JwtPayload {
  try {
    const payload = jwt.verify(token, key, {
      algorithms: [ALGORITHM],
      issuer: ISSUER,
      audience: AUDIENCE,
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      // Judged by us, after all else: only a token that is right in every other way has expired.
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

const invalidToken = () => new Problem('INVALID_TOKEN', 'The access token is not valid: log in again')

function readKeys(text: string): Map<string, Buffer> {
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
    return keys
  } catch (error) {
    if (error instanceof SecretError) throw wrong(`cannot be read: ${error.message}`)
    throw error
  }
}
