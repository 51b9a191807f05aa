import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Browser, type OidcProvider, type OidcUser, openBrowser, startOidcProvider } from '@slipway/testing/oidc'
import type { Dependencies } from '../src/dependencies.ts'
import { createProviderClients } from '../src/login-providers/provider-client.ts'
import type { Provider } from '../src/login-providers/providers-file.ts'
import { logger, startGateway, type TestGateway } from './setup.ts'

export const SECRET = 'a-secret-of-the-client'

/** A gateway on a port, two providers, and browsers that know both. */
export interface Stage {
  gateway: TestGateway
  /** The address of the gateway, which is another site than the providers. */
  base: string
  /** The providers as the gateway knows them. Tests change them in place. */
  configured: Provider[]
  first: OidcProvider
  second: OidcProvider
  close(): Promise<void>
}

const RULES = [
  { claim: 'groups', value: 'deployers', roles: ['operator'] },
  { claim: 'groups', value: 'readers', roles: ['user'] },
  { claim: 'groups', value: 'admins', roles: ['admin'] },
]

export const person = (username: string, claims: Record<string, unknown> = {}): OidcUser => ({
  username,
  password: `password of ${username}`,
  claims: { groups: ['deployers'], preferred_username: username, ...claims },
})

export async function startStage(overrides: Partial<Dependencies> = {}): Promise<Stage> {
  let answer: http.RequestListener = () => {}
  const server = http.createServer((request, response) => answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const providerOf = (id: string, users: OidcUser[]) =>
    startOidcProvider({
      users,
      clients: [
        { client_id: 'slipway', client_secret: SECRET, redirect_uris: [`${base}/api/v1/auth/oidc/${id}/callback`] },
      ],
    })
  const first = await providerOf('first', [])
  const second = await providerOf('second', [])
  const entry = (id: string, { issuer }: OidcProvider): Provider => ({
    id,
    name: `The ${id} provider`,
    issuer,
    client_id: 'slipway',
    client_secret: SECRET,
    scopes: ['openid', 'email', 'profile'],
    rules: RULES,
  })
  const configured = [entry('first', first), entry('second', second)]
  const gateway = await startGateway({
    cookieSecure: false,
    providers: { all: () => configured, stop() {} },
    providerClients: createProviderClients({ logger, publicUrl: base, freshMs: 0 }),
    ...overrides,
  })
  answer = gateway.app
  return {
    gateway,
    base,
    configured,
    first,
    second,
    async close() {
      server.closeAllConnections()
      server.close()
      await first.close()
      await second.close()
      await gateway.close()
    },
  }
}

export const startUrl = ({ base }: Stage, id = 'first', query = '') => `${base}/api/v1/auth/oidc/${id}/start${query}`

/** Logs in at the first provider in a new browser. */
export async function logIn(stage: Stage, user: OidcUser, query = '', id = 'first') {
  const browser = openBrowser()
  const end = await browser.logIn(startUrl(stage, id, query), user)
  return { browser, end, error: end.url.searchParams.get('error') }
}

/** What the console does on its page: it gets an access token with the refresh cookie. */
export async function accessToken(stage: Stage, browser: Browser): Promise<{ status: number; token: string }> {
  const response = await browser.call(`${stage.base}/api/v1/auth/refresh`, { method: 'POST' })
  const body = (await response.json()) as { access_token?: string }
  return { status: response.status, token: body.access_token ?? '' }
}

/** The calling user, as the API shows it to the browser. */
export async function currentUser(stage: Stage, browser: Browser) {
  const { token } = await accessToken(stage, browser)
  const response = await browser.call(`${stage.base}/api/v1/auth/me`, { headers: { authorization: `Bearer ${token}` } })
  // biome-ignore lint/suspicious/noExplicitAny: tests assert the form of the answers that they read
  return (await response.json()) as any
}

/** The newest audit record of logins. */
export async function lastLogin({ gateway }: Stage) {
  const { rows } = await gateway.database.query<{
    actor_name: string | null
    resource_id: string | null
    details: Record<string, unknown>
  }>(
    `SELECT actor_name, resource_id, details FROM audit_records WHERE action = 'auth.login' ORDER BY number DESC LIMIT 1`,
  )
  return rows[0]
}

export const isCallback = ({ pathname }: URL) => pathname.endsWith('/callback')
