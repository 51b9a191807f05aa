import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose'

export const TOKEN_ALGORITHMS = ['RS256', 'ES256', 'PS256', 'EdDSA'] as const
export interface IssuerKey {
  kid: string
  alg: string
  sign: Awaited<ReturnType<typeof generateKeyPair>>['privateKey']
  publicKey: Awaited<ReturnType<typeof generateKeyPair>>['publicKey']
  jwk: JWK
}

export async function makeIssuerKey(alg: string, kid: string): Promise<IssuerKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  return { kid, alg, sign: privateKey, publicKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } }
}

/** An issuer of ID tokens in the process of the test. What it answers can be changed at any time. */
export interface TokenIssuer {
  url: string
  keys: IssuerKey[]
  /** Answers a request instead of the issuer; undefined: the issuer answers. */
  instead: ((request: http.IncomingMessage, response: http.ServerResponse) => boolean) | undefined
  /** The paths that were asked for. */
  asked: string[]
  /** The claims of the job that asks for tokens as in GitHub Actions, with the variables that GitHub sets. */
  job: Record<string, unknown>
  variablesOfGitHub(): Record<string, string>
  /** A token with usual times. Undefined claims are left out. */
  token(
    claims?: Record<string, unknown>,
    options?: { key?: IssuerKey; header?: Record<string, unknown>; now?: number },
  ): Promise<string>
  close(): void
}

const JOB_PATH = '/job-token'
const JOB_SECRET = 'secret-of-the-job'

let counter = 0

export async function startTokenIssuer(algorithms: readonly string[] = ['ES256']): Promise<TokenIssuer> {
  const server = http.createServer((request, response) => {
    issuer.asked.push(request.url ?? '')
    if (issuer.instead?.(request, response)) return
    const { pathname, searchParams } = new URL(request.url ?? '', issuer.url)
    if (pathname === JOB_PATH) {
      if (request.headers.authorization !== `Bearer ${JOB_SECRET}`) return void response.writeHead(401).end()
      const aud = searchParams.get('audience') ?? undefined
      void issuer.token({ ...issuer.job, aud }).then((value) => response.end(JSON.stringify({ value })))
      return
    }
    const answer =
      request.url === '/.well-known/openid-configuration'
        ? { issuer: issuer.url, jwks_uri: `${issuer.url}/keys` }
        : { keys: issuer.keys.map(({ jwk }) => jwk) }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(answer))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer: TokenIssuer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    keys: await Promise.all(algorithms.map((alg) => makeIssuerKey(alg, `key-${alg}`))),
    instead: undefined,
    asked: [],
    job: {},
    variablesOfGitHub: () => ({
      GITHUB_ACTIONS: 'true',
      ACTIONS_ID_TOKEN_REQUEST_URL: `${issuer.url}${JOB_PATH}?api-version=2.0`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: JOB_SECRET,
    }),
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
