import * as auth from '../auth.ts'
import { CliToken, LOGIN_ERRORS, LoginCallback, LoginProviders, StartLogin } from '../oidc.ts'
import { op } from './operation.ts'

const codes = Object.keys(LOGIN_ERRORS)
  .map((code) => `\`${code}\``)
  .join(', ')

/** Login with OpenID Connect. A browser opens the two paths of a provider; no program calls them. */
export const oidcOperations = {
  listLoginProviders: op({
    method: 'GET',
    path: '/auth/providers',
    summary: 'List how users can log in',
    description:
      'Says whether users may log in with a password, and lists the OpenID Connect providers. The login page shows a button for each.',
    tag: 'authentication',
    access: 'public',
    responses: { 200: LoginProviders },
  }),
  startOidcLogin: op({
    method: 'GET',
    path: '/auth/oidc/{id}/start',
    limit: 'provider_login',
    summary: 'Begin a login with a provider: sends the browser to the provider',
    description:
      'A browser opens this address. The answer sends it to the provider and sets a cookie that binds the login to the browser for 10 minutes. `return_to` is a path of this server; another text is 400. A program that waits on a loopback port sends `cli_port`, `code_challenge` and `state` instead. If the provider is away, the browser goes to the login page with an error, as in finishOidcLogin. One address may begin 60 logins at once and one a second in the long run, then it gets 429.',
    tag: 'authentication',
    access: 'public',
    query: StartLogin,
    responses: { 302: null },
  }),
  finishOidcLogin: op({
    method: 'GET',
    path: '/auth/oidc/{id}/callback',
    audit: 'auth.login',
    auditsNamedRefusals: true,
    limit: 'provider_login',
    cookie: 'sets',
    summary: 'Complete a login with a provider: the provider sends the browser here',
    description: `Verifies the answer of the provider, makes or finds the user, sets roles and tenant by the rules of the provider, begins a session as login does, and sends the browser to \`return_to\`. After a login of a program, the browser goes to \`http://127.0.0.1:PORT/?code=…&state=…\` instead, and no session begins yet. Whatever is wrong sends the browser to \`/login?error=CODE&provider=ID\`. The codes: ${codes}.`,
    tag: 'authentication',
    access: 'public',
    query: LoginCallback,
    responses: { 302: null },
  }),
  exchangeCliCode: op({
    method: 'POST',
    path: '/auth/cli-token',
    audit: 'auth.cli_token',
    auditsNamedRefusals: true,
    limit: 'provider_login',
    cookie: 'sets',
    refusals: ['INVALID_TOKEN'],
    summary: 'Complete a login of a program in the browser; answers as login does',
    description:
      'Takes the code that the browser brought to the program, with the code verifier of the program, and begins a session. The code works once, within 60 seconds; otherwise 401 `INVALID_TOKEN`. Counts for the limit of startOidcLogin, whatever the body is.',
    tag: 'authentication',
    access: 'public',
    body: CliToken,
    responses: { 200: auth.LoginResponse },
  }),
} as const
