import { generateKeyPairSync, randomBytes } from 'node:crypto'
import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Provider } from 'oidc-provider'

export interface OidcUser {
  username: string
  password: string
  /** Beside `sub`, which is the user name. */
  claims: Record<string, unknown>
}

export interface OidcClient {
  client_id: string
  client_secret: string
  redirect_uris: string[]
}

export interface OidcProvider {
  issuer: string
  /** A login asks for the present users, with their present claims. */
  users: OidcUser[]
  /** Ends the provider, or plays that it is away. */
  close(): Promise<void>
}

interface Options {
  users: OidcUser[]
  clients: OidcClient[]
  /** 0: any free port. */
  port?: number
  /** Name of the host in the issuer. `localhost` is another site than 127.0.0.1. */
  host?: string
}

const CLAIMS = {
  openid: ['sub', 'groups', 'department', 'hd'],
  email: ['email', 'email_verified'],
  profile: ['name', 'preferred_username'],
}
const HOUR = 3_600

/** Starts an OpenID Connect provider in this process, with a login page for its users. */
export async function startOidcProvider({
  users,
  clients,
  port = 0,
  host = 'localhost',
}: Options): Promise<OidcProvider> {
  let answer: (request: IncomingMessage, response: ServerResponse) => unknown = () => {}
  const server = http.createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(port, host, resolve))
  const issuer = `http://${host}:${(server.address() as AddressInfo).port}`
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const provider = new Provider(issuer, {
    clients: clients.map((client) => ({ ...client, token_endpoint_auth_method: 'client_secret_basic' as const })),
    claims: CLAIMS,
    pkce: { required: () => true },
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), kid: 'k1', alg: 'RS256', use: 'sig' }] },
    cookies: { keys: [randomBytes(16).toString('hex')] },
    features: { devInteractions: { enabled: false } },
    ttl: { AccessToken: HOUR, AuthorizationCode: 60, Grant: HOUR, IdToken: HOUR, Interaction: HOUR, Session: HOUR },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    findAccount: (_context, id) => {
      const user = users.find(({ username }) => username === id)
      return user && { accountId: id, claims: () => ({ sub: id, ...user.claims }) }
    },
    // Nobody is asked for consent.
    async loadExistingGrant({ oidc: { client, session, params } }) {
      const clientId = client?.clientId ?? ''
      const before = session?.grantIdFor(clientId)
      const grant =
        (before === undefined ? undefined : await provider.Grant.find(before)) ??
        new provider.Grant({ accountId: session?.accountId, clientId })
      grant.addOIDCScope(String(params?.['scope'] ?? 'openid'))
      await grant.save()
      return grant
    },
  })
  const other = provider.callback()
  answer = (request, response) =>
    request.url?.startsWith('/interaction/') ? logIn(provider, users, request, response) : other(request, response)
  return {
    issuer,
    users,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** The login page, and what its form sends. */
async function logIn(
  provider: Provider,
  users: OidcUser[],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const form = request.method === 'POST' ? await readForm(request) : null
  if (form?.has('cancel')) {
    await provider.interactionFinished(request, response, { error: 'access_denied', error_description: 'cancelled' })
    return
  }
  const user = users.find(
    ({ username, password }) => username === form?.get('username') && password === form.get('password'),
  )
  if (user !== undefined) {
    await provider.interactionFinished(request, response, { login: { accountId: user.username } })
    return
  }
  response.setHeader('Content-Type', 'text/html; charset=utf-8')
  response.end(page(form === null ? '' : 'User name or password is wrong.'))
}

async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  let text = ''
  for await (const piece of request) text += String(piece)
  return new URLSearchParams(text)
}

const page = (problem: string) => `<!doctype html>
<title>Log in at the test provider</title>
<h1>Test provider</h1>
<p role="alert">${problem}</p>
<form method="post">
  <p><label>User name <input name="username" autofocus autocomplete="username"></label></p>
  <p><label>Password <input name="password" type="password" autocomplete="current-password"></label></p>
  <p><button>Log in</button> <button name="cancel" value="1">Cancel</button></p>
</form>
`
