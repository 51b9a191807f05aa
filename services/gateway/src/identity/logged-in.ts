import type { Answer } from '@slipway/http'
import { type UserWithRoles, userRecord } from '../callers/calling-user.ts'
import { ACCESS_TOKEN_SECONDS } from '../credentials/access-token.ts'
import type { Dependencies } from '../dependencies.ts'
import type { RefreshCookie } from './refresh-cookie.ts'
import type { RefreshedSession } from './sessions.ts'

type LoggedIn = (user: UserWithRoles, session: RefreshedSession) => Answer

/** The answer to every login. */
export const createLoggedIn =
  ({ accessTokens, refreshCookie }: Pick<Dependencies, 'accessTokens'> & { refreshCookie: RefreshCookie }): LoggedIn =>
  (user, { session_id, refresh_token }) => ({
    status: 200,
    headers: refreshCookie.set(refresh_token),
    body: {
      access_token: accessTokens.issue({ user_id: user.user_id, session_id }),
      token_type: 'Bearer',
      expires_in: ACCESS_TOKEN_SECONDS,
      user: userRecord(user),
    },
  })
