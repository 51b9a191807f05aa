import { createHash } from 'node:crypto'
import type { LoginError } from '@slipway/contracts'
import { notFound, Problem, validationProblem } from '@slipway/domain'
import type { Answer } from '@slipway/http'
import { constantTimeEqual, randomToken } from '@slipway/runtime'
import type { AuditTrail } from '../audit-trail.ts'
import { findUserById } from '../callers/calling-user.sql.ts'
import type { Dependencies } from '../dependencies.ts'
import type { Call, HandlersOf } from '../handler.ts'
import { createLoggedIn } from '../identity/logged-in.ts'
import { createRefreshCookie } from '../identity/refresh-cookie.ts'
import { openSession, placeOf, type RefreshedSession } from '../identity/sessions.ts'
import { LoginRefused } from '../login-providers/login-refused.ts'
import type { Provider } from '../login-providers/providers-file.ts'
import { problemOf } from '../problems.ts'
import { signIn } from './accounts.ts'
import { createBrowserCookie } from './browser-cookie.ts'
import { type BegunLogin, createLoginStates, type WaitingProgram } from './login-state.ts'
import { returnPath } from './return-path.ts'

type Operations = 'listLoginProviders' | 'startOidcLogin' | 'finishOidcLogin' | 'exchangeCliCode'

const redirect = (location: string, cookies: string[] = []): Answer => ({
  status: 302,
  headers: { Location: location, ...(cookies.length > 0 ? { 'Set-Cookie': cookies } : {}) },
})

/** The login page of the console shows the sentence of the code: see LOGIN_ERRORS. */
const loginPage = (error: LoginError, { id }: Provider, cookies: string[] = []) =>
  redirect(`/login?${new URLSearchParams({ error, provider: id })}`, cookies)

export function oidcHandlers(dependencies: Dependencies): HandlersOf<Operations> {
  const { database, passwordLogin, providers, providerClients, logger } = dependencies
  const { logins, cliLogins } = createLoginStates(dependencies)
  const browserCookie = createBrowserCookie({ secure: dependencies.cookieSecure })
  const refreshCookie = createRefreshCookie({ secure: dependencies.cookieSecure })
  const loggedIn = createLoggedIn({ ...dependencies, refreshCookie })

  /** @throws Problem NOT_FOUND */
  function providerOf({ params }: Pick<Call, 'params'>): Provider {
    const found = providers.all().find(({ id }) => id === params['id'])
    if (found === undefined) throw notFound('The login provider')
    return found
  }

  /** What the login page says about a failed login. What is no refusal of the login is a failure of this server. */
  function loginErrorOf(error: unknown): LoginError {
    if (error instanceof LoginRefused) return error.loginError
    logger.error('a login with a provider failed', { code: problemOf(error).code, error })
    return 'failed'
  }

  /**
   * Takes the login that the answer of the provider belongs to.
   * @throws LoginRefused
   */
  async function takeLogin({ query }: Call<'finishOidcLogin'>, provider: Provider): Promise<BegunLogin> {
    const login = query.state === undefined ? null : await logins.take(query.state)
    if (login === null) throw new LoginRefused('login_expired', 'the state is unknown, too old or used')
    if (login.provider !== provider.id) {
      throw new LoginRefused('invalid_answer', `the login began at the provider ${login.provider}`)
    }
    return login
  }

  const cookiesOf = (session: RefreshedSession | null) =>
    session === null ? [] : Object.values(refreshCookie.set(session.refresh_token))

  return {
    listLoginProviders: {
      async handle() {
        const shown = providers.all().map(({ id, name }) => ({ id, name, login_path: `/api/v1/auth/oidc/${id}/start` }))
        return { status: 200, body: { password_login: passwordLogin, providers: shown } }
      },
    },

    startOidcLogin: {
      async handle(call) {
        const provider = providerOf(call)
        const target = targetOf(call.query)
        const nonce = randomToken()
        const code_verifier = randomToken()
        const { browser, setCookie } = browserCookie.begin(call.headers.cookie)
        try {
          const began = { provider: provider.id, browser, target, nonce, code_verifier }
          // First the provider: a login at a provider that is away must not fill Redis.
          const url = await providerClients.authorizationUrl(provider, { nonce, code_verifier })
          url.searchParams.set('state', await logins.put(began))
          return redirect(url.href, [setCookie])
        } catch (error) {
          return loginPage(loginErrorOf(error), provider)
        }
      },
    },

    finishOidcLogin: {
      async handle(call) {
        const { audit, query, headers } = call
        const provider = providerOf(call)
        let cookies: string[] = []
        try {
          const login = await takeLogin(call, provider)
          audit.about({ resource_id: null, tenant_id: null, details: { provider: provider.id } })
          const ended = browserCookie.end(headers.cookie, login.browser)
          if (ended === null) throw new LoginRefused('other_browser', 'the cookie of the login is missing')
          cookies = [ended.setCookie]
          const binding = { ...login, state: query.state ?? '' }
          const user = await providerClients.redeem(provider, new URLSearchParams(query), binding)
          const { target } = login
          const isProgram = typeof target !== 'string'
          const { account, session } = await signIn(database, provider, user, async (tx, { account, details }) => {
            const { id, tenant_id, username, token_version } = account
            await audit.record(tx, {
              resource_id: id,
              tenant_id,
              actor: { id, name: username },
              details: isProgram ? { ...details, for_program: true } : details,
            })
            // The session of a program begins when the program has the code.
            const session = isProgram
              ? null
              : await openSession(tx, { user_id: id, token_version }, placeOf(call), provider.id)
            return { account, session }
          })
          dependencies.outboxChanged()
          if (typeof target === 'string') return redirect(target, [...cookies, ...cookiesOf(session)])
          const { id, token_version } = account
          const { code_challenge } = target
          const code = await cliLogins.put({ provider: provider.id, code_challenge, user_id: id, token_version })
          return redirect(programUrl(target, code), cookies)
        } catch (error) {
          await auditRefusal(audit, provider, error)
          return loginPage(loginErrorOf(error), provider, cookies)
        }
      },
    },

    exchangeCliCode: {
      async handle(call) {
        const { body, audit } = call
        const invalid = () =>
          new Problem('INVALID_TOKEN', 'This code is unknown, was used, or is older than 60 seconds: log in again')
        const login = await cliLogins.take(body.code)
        if (login === null) throw invalid()
        const { user_id, token_version, provider } = login
        const user = await findUserById.first(database, { id: user_id })
        audit.about({ resource_id: user_id, tenant_id: user?.tenant_id ?? null, details: { provider } })
        if (!constantTimeEqual(challengeOf(body.code_verifier), login.code_challenge)) throw invalid()
        // All sessions of the user were ended after the login in the browser.
        if (user === null || user.status !== 'active' || user.token_version !== token_version) throw invalid()
        const session = await database.transaction(async (tx) => {
          const actor = { id: user_id, name: user.username }
          await audit.record(tx, { resource_id: user_id, tenant_id: user.tenant_id, actor, details: { provider } })
          return openSession(tx, user, placeOf(call), provider)
        })
        return loggedIn(user, session)
      },
    },
  }
}

/** The record of a refusal has the reason, which the browser does not get. An unknown state leaves none: anybody may send one. */
async function auditRefusal(audit: AuditTrail, provider: Provider, error: unknown): Promise<void> {
  if (error instanceof LoginRefused && error.loginError !== 'login_expired') {
    const { loginError, reason, account } = error
    const details = { provider: provider.id, login_error: loginError, reason }
    audit.about({ resource_id: account?.id ?? null, tenant_id: account?.tenant_id ?? null, details })
  }
  await audit.refused(problemOf(error))
}

/** @throws Problem VALIDATION_ERROR */
function targetOf(query: Call<'startOidcLogin'>['query']): string | WaitingProgram {
  const { return_to = '/', cli_port, code_challenge, state } = query
  const wrong = (field: string, message: string) => validationProblem([{ path: `query/${field}`, message }])
  if (cli_port === undefined && code_challenge === undefined && state === undefined) {
    const path = returnPath(return_to)
    if (path !== null) return path
    throw wrong('return_to', 'must be a path of this server, such as /deployments')
  }
  if (query.return_to !== undefined) throw wrong('return_to', 'must be left out with cli_port')
  const port = Number(cli_port)
  if (cli_port === undefined || port < 1_024 || port > 65_535) throw wrong('cli_port', 'must be 1024 to 65535')
  if (code_challenge === undefined) throw wrong('code_challenge', 'is required with cli_port')
  if (state === undefined) throw wrong('state', 'is required with cli_port')
  return { port, code_challenge, state }
}

const programUrl = ({ port, state }: WaitingProgram, code: string) =>
  `http://127.0.0.1:${port}/?${new URLSearchParams({ code, state })}`

const challengeOf = (verifier: string) => createHash('sha256').update(verifier).digest('base64url')
