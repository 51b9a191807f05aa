import { hasUnstorableText } from '@slipway/domain'
import { type Logger, TIMED_OUT, withTimeout } from '@slipway/runtime'
import * as oidc from 'openid-client'
import { LoginRefused } from './login-refused.ts'
import type { Provider } from './providers-file.ts'
import type { Claims } from './rights.ts'

/** The longest time for one call of a provider. */
const CALL_SECONDS = 3
/** The longest time for all calls of one login. The answer to the browser must come within 10 s. */
const LOGIN_MS = 8_000
const MAX_ANSWER_BYTES = 1024 * 1024
/** A login begins only if the provider has answered within this time. */
const FRESH_MS = 10_000
/** The shortest time between two calls of a provider that does not answer. */
const RETRY_MS = 1_000
const MAX_SUBJECT_LENGTH = 255
/** At most so many characters of a text of a provider go to the log. */
const SHOWN_CHARACTERS = 200

/** What binds the answer of the provider to a login. */
export interface Binding {
  state: string
  nonce: string
  code_verifier: string
}

/** A user at the provider, as signed by it. */
export interface ProviderUser {
  subject: string
  claims: Claims
}

export interface ProviderClients {
  /**
   * Where the browser goes to log in, without the state.
   * @throws LoginRefused provider_unavailable
   */
  authorizationUrl(provider: Provider, binding: Omit<Binding, 'state'>): Promise<URL>
  /**
   * Exchanges the answer of the provider for the claims of the user.
   * @throws LoginRefused
   */
  redeem(provider: Provider, answer: URLSearchParams, binding: Binding): Promise<ProviderUser>
}

interface Options {
  logger: Logger
  /** The address of this server, as browsers see it. */
  publicUrl: string
  /** How long an answer of a provider proves that it is there. For tests. */
  freshMs?: number
}

/** The provider could not be called, or its answer is no answer. */
class ProviderAway extends Error {
  override name = 'ProviderAway'
}

export function createProviderClients({ logger, publicUrl, freshMs = FRESH_MS }: Options): ProviderClients {
  const found = new WeakMap<Provider, Discovery>()
  const redirectUri = ({ id }: Provider) => new URL(`/api/v1/auth/oidc/${id}/callback`, publicUrl)

  /** The metadata of a provider, not older than `maxAgeMs`. Concurrent logins share one call. */
  function discover(provider: Provider, maxAgeMs: number): Promise<oidc.Configuration> {
    const before = found.get(provider)
    if (before !== undefined && performance.now() - before.at < (before.failed ? RETRY_MS : maxAgeMs))
      return before.result
    const result = discoverNow(provider)
    const discovery: Discovery = { at: performance.now(), failed: false, result }
    found.set(provider, discovery)
    result.catch(() => {
      discovery.failed = true
    })
    return result
  }

  async function claimsOf(provider: Provider, answer: URLSearchParams, binding: Binding): Promise<ProviderUser> {
    const configuration = await discover(provider, Number.POSITIVE_INFINITY)
    const url = redirectUri(provider)
    url.search = answer.toString()
    const tokens = await oidc.authorizationCodeGrant(configuration, url, {
      pkceCodeVerifier: binding.code_verifier,
      expectedState: binding.state,
      expectedNonce: binding.nonce,
      idTokenExpected: true,
    })
    const idToken = tokens.claims()
    if (idToken === undefined) throw new LoginRefused('invalid_answer', 'the answer has no ID token')
    const { sub } = idToken
    const asksUserInfo = configuration.serverMetadata().userinfo_endpoint !== undefined
    // Many providers put the claims of a scope only there. The signed token wins.
    const userInfo = asksUserInfo ? await oidc.fetchUserInfo(configuration, tokens.access_token, sub) : {}
    if (sub.length > MAX_SUBJECT_LENGTH || hasUnstorableText(sub)) {
      throw new LoginRefused('invalid_answer', 'the subject is too long, or no text')
    }
    return { subject: sub, claims: { ...userInfo, ...idToken } }
  }

  return {
    async authorizationUrl(provider, { nonce, code_verifier }) {
      try {
        const configuration = await discover(provider, freshMs)
        return oidc.buildAuthorizationUrl(configuration, {
          redirect_uri: redirectUri(provider).href,
          scope: provider.scopes.join(' '),
          nonce,
          code_challenge: await oidc.calculatePKCECodeChallenge(code_verifier),
          code_challenge_method: 'S256',
        })
      } catch (error) {
        logger.warn('a login provider cannot be used', { provider: provider.id, problem: shown(error) })
        throw new LoginRefused('provider_unavailable', shown(error))
      }
    },

    async redeem(provider, answer, binding) {
      try {
        const user = await withTimeout(LOGIN_MS, claimsOf(provider, answer, binding))
        if (user === TIMED_OUT) throw new ProviderAway(`no answer within ${LOGIN_MS} ms`)
        return user
      } catch (error) {
        const refusal = refusalOf(error)
        logger.warn('the answer of a login provider was refused', { provider: provider.id, problem: refusal.reason })
        throw refusal
      }
    },
  }
}

interface Discovery {
  at: number
  failed: boolean
  result: Promise<oidc.Configuration>
}

/** @throws ProviderAway if the provider has another issuer than the file */
async function discoverNow({ issuer, client_id, client_secret }: Provider): Promise<oidc.Configuration> {
  const configuration = await oidc.discovery(
    discoveryUrl(issuer),
    client_id,
    undefined,
    authenticationWith(client_secret),
    {
      timeout: CALL_SECONDS,
      [oidc.customFetch]: boundedFetch,
      execute: [
        // Checks the signature, although the token comes from the provider itself.
        oidc.enableNonRepudiationChecks,
        // The configuration allows plain HTTP only in development, and to this machine.
        ...(issuer.startsWith('http:') ? [oidc.allowInsecureRequests] : []),
      ],
    },
  )
  const found = configuration.serverMetadata().issuer
  if (found === issuer) return configuration
  throw new ProviderAway(`the provider has the issuer ${found}: the file of the providers must name exactly this one`)
}

/** With the address of the document, openid-client leaves the check of the issuer to `discoverNow`. Its own has exceptions. */
const discoveryUrl = (issuer: string) => new URL(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`)

/** Basic is the default of the standard; providers without it say so. */
const authenticationWith =
  (secret: string): oidc.ClientAuth =>
  (server, client, body, headers) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    const authenticate = methods.includes('client_secret_basic')
      ? oidc.ClientSecretBasic(secret)
      : oidc.ClientSecretPost(secret)
    authenticate(server, client, body, headers)
  }

/** Reads at most 1 MiB. */
const boundedFetch: oidc.CustomFetch = async (url, options) => {
  try {
    const response = await fetch(url, options as RequestInit)
    if (response.status >= 500) throw new ProviderAway(`the provider answered ${response.status}`)
    const { status, statusText, headers } = response
    const bytes = await readBounded(response)
    return new Response(bytes.length === 0 ? null : bytes, { status, statusText, headers })
  } catch (error) {
    throw error instanceof ProviderAway ? error : new ProviderAway(shown(error), { cause: error })
  }
}

async function readBounded(response: Response): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of response.body ?? []) {
    length += chunk.length
    if (length > MAX_ANSWER_BYTES) throw new ProviderAway('the provider answered more than 1 MiB')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function refusalOf(error: unknown): LoginRefused {
  if (error instanceof LoginRefused) return error
  if (causes(error).some((cause) => cause instanceof ProviderAway)) {
    return new LoginRefused('provider_unavailable', shown(error))
  }
  const isRefusal = error instanceof oidc.AuthorizationResponseError
  return new LoginRefused(isRefusal ? 'provider_refused' : 'invalid_answer', shown(error))
}

const MAX_CAUSES = 5

function causes(error: unknown): Error[] {
  const found: Error[] = []
  for (let one = error; one instanceof Error && found.length < MAX_CAUSES; one = one.cause) found.push(one)
  return found
}

/** For the log: a provider may send any text. */
const shown = (error: unknown): string =>
  causes(error)
    .map(({ message }) => message)
    .join(': ')
    .replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' ')
    .slice(0, SHOWN_CHARACTERS)
