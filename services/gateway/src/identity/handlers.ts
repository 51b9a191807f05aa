import { type SseTokenRecord, sseTokenKey } from '@slipway/contracts'
import { Problem } from '@slipway/domain'
import { hashToken, randomToken, uuidv7 } from '@slipway/runtime'
import type { Dependencies } from '../dependencies.ts'
import type { HandlersOf } from '../http/handler.ts'
import { ACCESS_TOKEN_SECONDS } from './access-token.ts'
import { currentUserRecord, findUserByEmail, userRecord } from './calling-user.ts'

const SSE_TOKEN_SECONDS = 60

/** Key of the session that SSE tokens belong to; its refresh token is kept by its hash. */
const sseSessionKey = (namespace: string, sessionId: string) => `${namespace}:sse-session:${sessionId}`

export function identityHandlers({
  database,
  cache,
  accessTokens,
  passwords,
  namespace,
}: Dependencies): HandlersOf<'login' | 'getCurrentUser' | 'createSseToken'> {
  return {
    login: {
      async handle({ body, audit }) {
        const user = await findUserByEmail(database, body.email)
        // The same work whether or not there is such a user, so that the time tells nothing.
        const matches = await passwords.matches(body.password, user?.password_hash ?? null)
        if (user === null || !matches || user.status !== 'active') {
          throw new Problem('INVALID_CREDENTIALS', 'E-mail or password is wrong, or the account is not active')
        }
        await database.transaction(async (tx) => {
          await tx.query('UPDATE users SET last_login_at = now() WHERE id = $1', [user.user_id])
          const { user_id, tenant_id, username } = user
          await audit.record(tx, { resource_id: user_id, tenant_id, actor: { id: user_id, name: username } })
        })
        return {
          status: 200,
          body: {
            access_token: accessTokens.issue(user.user_id),
            token_type: 'Bearer',
            expires_in: ACCESS_TOKEN_SECONDS,
            user: userRecord(user),
          },
        }
      },
    },

    getCurrentUser: {
      handle: async ({ caller }) => ({ status: 200, body: currentUserRecord(caller) }),
    },

    createSseToken: {
      async handle({ caller }) {
        const token = randomToken()
        const refreshToken = randomToken()
        const sessionId = uuidv7()
        const record: SseTokenRecord = {
          user_id: caller.user_id,
          tenant_id: caller.tenant_id,
          session_id: sessionId,
          permissions: caller.permissions,
        }
        const session = { user_id: caller.user_id, refresh_token_hash: hashToken(refreshToken) }
        await cache.run(async (redis) => {
          const results = await redis
            .multi()
            .set(sseTokenKey(namespace, hashToken(token)), JSON.stringify(record), 'EX', SSE_TOKEN_SECONDS)
            .set(sseSessionKey(namespace, sessionId), JSON.stringify(session), 'EX', ACCESS_TOKEN_SECONDS)
            .exec()
          const failure = results?.find(([error]) => error !== null)?.[0]
          if (results === null || failure) throw failure ?? new Error('the transaction was discarded')
        })
        return {
          status: 200,
          body: {
            sse_token: token,
            expires_in: SSE_TOKEN_SECONDS,
            session_id: sessionId,
            refresh_token: refreshToken,
          },
        }
      },
    },
  }
}
