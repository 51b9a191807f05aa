import { parseCookie, stringifySetCookie } from 'cookie'
import { REFRESH_TOKEN_DAYS } from './sessions.sql.ts'

const NAME = 'refresh_token'
const DAY_SECONDS = 86_400

/** The cookie with the refresh token. Browsers hide it from scripts and send it only to `/auth`, not from other sites. */
export interface RefreshCookie {
  /** The token of a Cookie header, or null. */
  read(header: string | undefined): string | null
  /** Set-Cookie headers. */
  set(token: string): Record<string, string>
  clear(): Record<string, string>
}

/** `secure` is false only where the API is served over plain HTTP. */
export function createRefreshCookie({ secure }: { secure: boolean }): RefreshCookie {
  const header = (value: string, maxAge: number) => ({
    'Set-Cookie': stringifySetCookie({
      name: NAME,
      value,
      maxAge,
      path: '/api/v1/auth',
      httpOnly: true,
      sameSite: 'strict',
      secure,
    }),
  })
  return {
    read: (text) => (text === undefined ? null : parseCookie(text)[NAME]) || null,
    set: (token) => header(token, REFRESH_TOKEN_DAYS * DAY_SECONDS),
    clear: () => header('', 0),
  }
}
