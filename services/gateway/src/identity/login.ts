import { Type } from '@sinclair/typebox'
import { compile } from '@slipway/contracts'
import { Problem } from '@slipway/domain'
import { findUserByEmail, findUserById } from '../callers/calling-user.sql.ts'
import { normalizeEmail, type UserWithRoles } from '../callers/calling-user.ts'
import type { Dependencies } from '../dependencies.ts'
import type { HandlersOf } from '../handler.ts'
import type { Attempts } from './attempts.ts'
import { createLoggedIn } from './logged-in.ts'
import { passwordLoginIsOff, requirePasswordLogin } from './password-login.ts'
import type { RefreshCookie } from './refresh-cookie.ts'
import { type Factor, takeCode } from './second-factor.ts'
import { noteLogin } from './sessions.sql.ts'
import { openSession, placeOf, revokeReused, rotateRefreshToken } from './sessions.ts'
import { requireNotLocked } from './wrong-codes.ts'

type Parts = Pick<
  Dependencies,
  'database' | 'keys' | 'codeClock' | 'accessTokens' | 'passwords' | 'passwordLogin' | 'outboxChanged'
> & {
  attempts: Attempts
  refreshCookie: RefreshCookie
}

const invalidPending = () => new Problem('INVALID_TOKEN', 'This pending token is not valid any more: log in again')
const invalidRefresh = () => new Problem('INVALID_TOKEN', 'The refresh token is not valid any more: log in again')

const requireFactor = ({ totp_enabled }: Factor) => {
  if (!totp_enabled) throw invalidPending()
}

const isEmail = compile(Type.String({ format: 'email', maxLength: 320 }))

/** The e-mail for the audit record of a refusal. Other texts are left out: users type passwords into the wrong field. */
function accountTried(text: string): { email?: string } {
  const email = normalizeEmail(text)
  return isEmail(email).length === 0 ? { email } : {}
}

const subjectOf = (user: UserWithRoles | null) => ({
  resource_id: user?.user_id ?? null,
  tenant_id: user?.tenant_id ?? null,
})

export function loginHandlers(parts: Parts): HandlersOf<'login' | 'verifyTwoFactor' | 'refreshLogin'> {
  const { database, keys, codeClock, accessTokens, passwords, attempts, refreshCookie, passwordLogin } = parts

  const loggedIn = createLoggedIn(parts)
  const recordOf = ({ user_id, tenant_id, username }: UserWithRoles, details: Record<string, unknown> = {}) => ({
    resource_id: user_id,
    tenant_id,
    actor: { id: user_id, name: username },
    details,
  })

  return {
    login: {
      async handle({ body, audit, ...call }) {
        const user = await findUserByEmail.first(database, { email: normalizeEmail(body.email) })
        audit.about({ ...subjectOf(user), details: accountTried(body.email) })
        // Also without a user, so the time does not reveal whether the user exists.
        const matches = await passwords.matches(body.password, user?.password_hash ?? null)
        if (user === null || !matches || user.status !== 'active') {
          // One answer for all, so that it does not tell which accounts may log in nevertheless.
          if (!passwordLogin) throw passwordLoginIsOff()
          throw new Problem('INVALID_CREDENTIALS', 'E-mail or password is wrong, or the account is not active')
        }
        requirePasswordLogin(passwordLogin, user)
        if (user.totp_enabled) {
          await audit.record(database, recordOf(user, { requires_2fa: true }))
          return { status: 200, body: { requires_2fa: true, pending_token: accessTokens.issuePending(user) } }
        }
        const session = await database.transaction(async (tx) => {
          await noteLogin.run(tx, user)
          await audit.record(tx, recordOf(user))
          return openSession(tx, user, placeOf(call))
        })
        return loggedIn(user, session)
      },
    },

    verifyTwoFactor: {
      async handle({ body, audit, ...call }) {
        const pending = accessTokens.verifyPending(body.pending_token)
        const user = await findUserById.first(database, { id: pending.user_id })
        audit.about(subjectOf(user))
        if (user === null || user.status !== 'active' || !user.totp_enabled) throw invalidPending()
        // The password was changed, or all sessions were ended, after the first step of the login.
        if (user.token_version !== pending.token_version) throw invalidPending()
        requirePasswordLogin(passwordLogin, user)
        // First, so a locked user keeps the attempts of the token, and the refusal names the lock.
        await requireNotLocked(database, user.user_id)
        await attempts.takeAttempt(pending.token_id)
        const session = await database.transaction(async (tx) => {
          const refusal = await takeCode(tx, { keys, codeClock, audit, requireFactor }, user, body.code)
          if (refusal !== null) return refusal
          await noteLogin.run(tx, user)
          await audit.record(tx, recordOf(user))
          return openSession(tx, user, placeOf(call))
        })
        if (session instanceof Problem) throw session
        // May fail: the token alone is useless, because the code is used up.
        await attempts.exhaust(pending.token_id).catch(() => {})
        return loggedIn(user, session)
      },
    },

    refreshLogin: {
      async handle({ audit, ...call }) {
        const token = refreshCookie.read(call.headers.cookie)
        if (token === null) throw new Problem('UNAUTHORIZED', 'The refresh_token cookie is missing: log in')
        const rotated = await database.transaction(async (tx) => {
          const session = await rotateRefreshToken(tx, token, placeOf(call))
          if (session === null) {
            const ended = await revokeReused(tx, token)
            if (ended !== null) {
              const details = {
                outcome: 'refused',
                code: 'INVALID_TOKEN',
                reused_token_ended_session: ended.session_id,
              }
              await audit.record(tx, {
                resource_id: ended.user_id,
                tenant_id: null,
                actor: { id: ended.user_id, name: null },
                details,
              })
            }
            return null
          }
          const user = await findUserById.first(tx, { id: session.user_id })
          if (user === null) return null
          await audit.record(tx, recordOf(user))
          return { user, session }
        })
        parts.outboxChanged()
        if (rotated === null) throw invalidRefresh()
        return loggedIn(rotated.user, rotated.session)
      },
    },
  }
}
