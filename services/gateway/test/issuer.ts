import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose'

export const ALGORITHMS = ['RS256', 'ES256', 'PS256', 'EdDSA'] as const
export type Algorithm = (typeof ALGORITHMS)[number]

export interface IssuerKey {
  kid: string
  alg: string
  sign: Awaited<ReturnType<typeof generateKeyPair>>['privateKey']
  publicKey: Awaited<ReturnType<typeof generateKeyPair>>['publicKey']
  jwk: JWK
}

export async function makeKey(alg: string, kid: string): Promise<IssuerKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  return { kid, alg, sign: privateKey, publicKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } }
}

/** An issuer of ID tokens in the process of the test. What it answers can be changed at any time. */
export interface TestIssuer {
  url: string
  keys: IssuerKey[]
  /** Answers a request instead of the issuer; undefined: the issuer answers. */
  instead: ((request: http.IncomingMessage, response: http.ServerResponse) => boolean) | undefined
  /** The paths that were asked for. */
  asked: string[]
  /** A token with usual times. Undefined claims are left out. */
  token(
    claims?: Record<string, unknown>,
    options?: { key?: IssuerKey; header?: Record<string, unknown>; now?: number },
  ): Promise<string>
  close(): void
}

let counter = 0

export async function startIssuer(algorithms: readonly string[] = ['ES256']): Promise<TestIssuer> {
  const server = http.createServer((request, response) => {
    issuer.asked.push(request.url ?? '')
    if (issuer.instead?.(request, response)) return
    const answer =
      request.url === '/.well-known/openid-configuration'
        ? { issuer: issuer.url, jwks_uri: `${issuer.url}/keys` }
        : { keys: issuer.keys.map(({ jwk }) => jwk) }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(answer))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer: TestIssuer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    keys: await Promise.all(algorithms.map((alg) => makeKey(alg, `key-${alg}`))),
    instead: undefined,
    asked: [],
    async token(claims = {}, { key = issuer.keys[0], header = {}, now = Date.now() } = {}) {
      if (key === undefined) throw new Error('the issuer has no key')
      const at = Math.floor(now / 1_000)
      const usual = { iss: issuer.url, iat: at, nbf: at, exp: at + 300, jti: `token-${++counter}` }
      const payload = JSON.parse(JSON.stringify({ ...usual, ...claims })) as JWTPayload
      return new SignJWT(payload).setProtectedHeader({ alg: key.alg, kid: key.kid, ...header }).sign(key.sign)
    },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
  return issuer
}

/** A part of a token. */
export const encoded = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')
