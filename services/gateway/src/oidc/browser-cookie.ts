import { constantTimeEqual, hashToken, randomToken } from '@slipway/runtime'
import { parseCookie, stringifySetCookie } from 'cookie'
import { LOGIN_SECONDS } from './login-state.ts'

const NAME = 'oidc_login'
/** Logins that one browser may have begun: each tab may begin one. A further one ends the oldest. */
const MAX_LOGINS = 4
const SECRETS = /^[A-Za-z0-9_-]{43}(\.[A-Za-z0-9_-]{43})*$/

/** The cookie that binds logins to the browser in which they began: one secret for each. */
export interface BrowserCookie {
  /** Begins a login: the hash of its secret, and the header for the browser. */
  begin(cookieHeader: string | undefined): { browser: string; setCookie: string }
  /** Ends the login with this hash. Null: it began in another browser. */
  end(cookieHeader: string | undefined, browser: string): { setCookie: string } | null
}

export function createBrowserCookie({ secure }: { secure: boolean }): BrowserCookie {
  const header = (secrets: readonly string[]) =>
    stringifySetCookie({
      name: NAME,
      value: secrets.join('.'),
      maxAge: secrets.length === 0 ? 0 : LOGIN_SECONDS,
      path: '/api/v1/auth/oidc',
      httpOnly: true,
      // Lax: the provider, which is another site, sends the browser back.
      sameSite: 'lax',
      secure,
    })
  return {
    begin(cookieHeader) {
      const secret = randomToken()
      const secrets = [secret, ...secretsOf(cookieHeader)].slice(0, MAX_LOGINS)
      return { browser: hashToken(secret), setCookie: header(secrets) }
    },
    end(cookieHeader, browser) {
      const secrets = secretsOf(cookieHeader)
      const others = secrets.filter((secret) => !constantTimeEqual(hashToken(secret), browser))
      return others.length === secrets.length ? null : { setCookie: header(others) }
    },
  }
}

function secretsOf(cookieHeader: string | undefined): string[] {
  const value = cookieHeader === undefined ? undefined : parseCookie(cookieHeader)[NAME]
  return value !== undefined && SECRETS.test(value) ? value.split('.').slice(0, MAX_LOGINS) : []
}
