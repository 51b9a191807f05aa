import type { RowOf } from '@slipway/database'
import { isUuid, notFound, Problem } from '@slipway/domain'
import { findUserById } from '../callers/calling-user.sql.ts'
import { currentUserRecord } from '../callers/calling-user.ts'
import type { Dependencies } from '../dependencies.ts'
import type { HandlersOf } from '../handler.ts'
import type { Attempts } from './attempts.ts'
import { requirePasswordChange } from './password-login.ts'
import type { RefreshCookie } from './refresh-cookie.ts'
import { findSessions, revokeSession } from './sessions.sql.ts'
import { announceRevocation, replacePassword, revokeUser } from './sessions.ts'

type Parts = Pick<Dependencies, 'database' | 'passwords' | 'passwordLogin' | 'outboxChanged'> & {
  attempts: Attempts
  refreshCookie: RefreshCookie
}

export function accountHandlers({
  database,
  passwords,
  passwordLogin,
  attempts,
  refreshCookie,
  outboxChanged,
}: Parts): HandlersOf<'getCurrentUser' | 'logout' | 'listSessions' | 'deleteSession' | 'changePassword'> {
  return {
    getCurrentUser: {
      handle: async ({ caller }) => ({ status: 200, body: currentUserRecord(caller) }),
    },

    logout: {
      async handle({ caller, audit }) {
        await database.transaction(async (tx) => {
          await revokeUser(tx, caller.user_id)
          await audit.record(tx, { resource_id: caller.user_id, tenant_id: caller.tenant_id })
        })
        outboxChanged()
        return { status: 200, headers: refreshCookie.clear(), body: { message: 'All sessions have ended' } }
      },
    },

    listSessions: {
      async handle({ caller }) {
        const found = await findSessions.all(database, { user_id: caller.user_id, session_id: caller.credential.id })
        return { status: 200, body: { sessions: found.map(sessionRecord) } }
      },
    },

    deleteSession: {
      async handle({ caller, params, audit }) {
        const id = params['id'] ?? ''
        await database.transaction(async (tx) => {
          const ended = isUuid(id) ? await revokeSession.first(tx, { id, user_id: caller.user_id }) : null
          if (ended === null) throw notFound('The session')
          await announceRevocation(tx, caller.user_id)
          await audit.record(tx, { resource_id: ended.id, tenant_id: caller.tenant_id })
        })
        outboxChanged()
        return { status: 200, body: { message: 'The session has ended' } }
      },
    },

    changePassword: {
      async handle({ caller, body, audit }) {
        const user = await findUserById.first(database, { id: caller.user_id })
        requirePasswordChange(passwordLogin, user)
        const hash = user?.password_hash ?? null
        const right = await attempts.checkPassword(caller.user_id, () => passwords.matches(body.current_password, hash))
        if (!right || hash === null) throw new Problem('INVALID_CREDENTIALS', 'The current password is wrong')
        const newHash = await passwords.hash(body.new_password)
        await database.transaction(async (tx) => {
          await replacePassword(tx, {
            user_id: caller.user_id,
            session_id: caller.credential.id,
            old_hash: hash,
            new_hash: newHash,
          })
          await audit.record(tx, { resource_id: caller.user_id, tenant_id: caller.tenant_id })
        })
        outboxChanged()
        return { status: 200, body: { message: 'The password is changed; all other sessions have ended' } }
      },
    },
  }
}

const sessionRecord = ({ created_at, last_used_at, expires_at, ...session }: RowOf<typeof findSessions>) => ({
  ...session,
  created_at: created_at.toISOString(),
  last_used_at: last_used_at?.toISOString() ?? null,
  expires_at: expires_at.toISOString(),
})
