import { LOGIN_ERRORS } from '@slipway/client'

/** Where the server sends a browser whose login with a provider failed. */
export const LOGIN_PATH = '/login'

type Address = Pick<Location, 'pathname' | 'search'>

/** Where a login leads: to the screen that the user wanted. */
export const wantedPath = ({ pathname, search }: Address): string =>
  pathname === LOGIN_PATH ? '/' : `${pathname}${search}`

/** Begins a login with a provider, which leads back to the screen that the user wanted. */
export const startAddress = (loginPath: string, address: Address): string =>
  `${loginPath}?${new URLSearchParams({ return_to: wantedPath(address) })}`

const isLoginError = (code: string): code is keyof typeof LOGIN_ERRORS => Object.hasOwn(LOGIN_ERRORS, code)

/** Why a login with a provider failed. Anybody can write an address, so it only chooses among sentences that are known. */
export function loginFailure({ pathname, search }: Address): { sentence: string; provider: string | null } | null {
  const parameters = new URLSearchParams(search)
  const code = parameters.get('error')
  if (pathname !== LOGIN_PATH || code === null || !isLoginError(code)) return null
  return { sentence: LOGIN_ERRORS[code], provider: parameters.get('provider') }
}
